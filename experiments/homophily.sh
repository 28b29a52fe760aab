#!/usr/bin/env bash
# Homophily at test nodes of the given graph and of the latent graph after each round, in percent, mean over the ten
# fixed splits: once as chosen (settings at their defaults; a round that did not pay counts as the one before it), once
# with eight neighbours per node and every round kept, so that only who they are can differ. Prints a Markdown table.
# Usage: LHS_DATA=FOLDER experiments/homophily.sh [GRAPH…]   (default: five graphs)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with the graphs}"
export LHS_CACHE=$LHS_DATA
[ $# -gt 0 ] || set -- texas wisconsin chameleon squirrel cora
cargo build --release --quiet
lhs=$PWD/target/release/lhs
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

mean='import json, sys
runs = [json.load(open(path))["graphs"] for path in sys.argv[1:]]
at = lambda graphs, index: graphs[min(index, len(graphs) - 1)]["homophily_test"] or 0
print(" | ".join("%.1f" % (100 * sum(at(graphs, index) for graphs in runs) / len(runs)) for index in range(4)))'
row() { # graph, title, settings…
  local graph=$1 title=$2
  shift 2
  rm -rf "$runs/run"
  "$lhs" train "$graph" --no-config --quiet --out "$runs/run" --set training.epochs=1 --set ensemble_size=1 "$@" > /dev/null
  for split in 0 1 2 3 4 5 6 7 8 9; do
    "$lhs" structure "$runs/run" --split $split --quiet --json > "$runs/$split.json"
  done
  echo "| $graph, $title | $(python3 -c "$mean" "$runs"/?.json) |"
}
echo "| homophily at test nodes, % | given | round 0 | round 1 | round 2 |"
echo "|---|---|---|---|---|"
for graph in "$@"; do
  row "$graph" "as chosen"
  row "$graph" "8 neighbours" --set structure.rounds_must_pay=false --set structure.top_k=8 --set structure.threshold=0
done
