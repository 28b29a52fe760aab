#!/usr/bin/env bash
# What each part of LHS is worth: test accuracy over the ten fixed splits with one part switched off at a time,
# all else at its default, and the homophily of the latent graph at test nodes after each round.
# Prints two Markdown tables. Usage: LHS_DATA=FOLDER benches/ablation.sh [GRAPH…]   (default: four graphs)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with the graphs}"
export LHS_CACHE=$LHS_DATA
[ $# -gt 0 ] || set -- texas wisconsin chameleon cora
cargo build --release --quiet
lhs=$PWD/target/release/lhs
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

accuracy='import json, sys
result = json.load(sys.stdin)
print("%.2f ± %.2f" % (result["test_accuracy_mean"], result["test_accuracy_std"]))'
row() { # title, settings…
  local title=$1 line="| $1 |"
  shift
  for graph in "${graphs[@]}"; do
    line+=" $("$lhs" train "$graph" --no-config --no-save --quiet --json "$@" | python3 -c "$accuracy") |"
  done
  echo "$line"
}
graphs=("$@")
printf '| |'; printf ' %s |' "${graphs[@]}"; echo
printf '|---|'; printf '%s' "${graphs[@]/*/---|}"; echo
row "all parts"
row "no refinement (rounds 0)" --set structure.rounds=0
row "one round" --set structure.rounds=1
row "no pairwise constraint" --set structure.refiner.pairwise_weight=0
row "no contrast" --set structure.refiner.contrastive_weight=0
row "all labels shown to the refiner" --set structure.refiner.label_share=1
row "no low-rank filter" --set structure.directions_per_class=0
row "no top-k (threshold 0.8)" --set structure.top_k=0 --set structure.threshold=0.8
row "no bootstrap" --set structure.bootstrap=0
row "no reconstruction" --set reconstruction.weight=0
row "features as the only view" --set structure.views=features
row "adjacency as the only view" --set structure.views=adjacency
row "no latent graph" --set latent_hops=0 --set structure.rounds=0 --set reconstruction.weight=0
row "no given graph" --set given_hops=0
row "no profile" --set profile=false

homophily='import json, sys
runs = [json.load(open(path))["graphs"] for path in sys.argv[1:]]
mean = lambda index: 100 * sum(graphs[index]["homophily_test"] or 0 for graphs in runs) / len(runs)
print(" | ".join("%.1f" % mean(index) for index in range(4)))'
echo
echo "| homophily at test nodes, % | given | round 0 | round 1 | round 2 |"
echo "|---|---|---|---|---|"
for graph in "${graphs[@]}"; do
  "$lhs" train "$graph" --no-config --quiet --out "$runs/$graph" > /dev/null
  for split in 0 1 2 3 4 5 6 7 8 9; do
    "$lhs" structure "$runs/$graph" --split $split --quiet --json > "$runs/$graph-$split.json"
  done
  echo "| $graph | $(python3 -c "$homophily" "$runs/$graph"-*.json) |"
done
