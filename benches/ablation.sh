#!/usr/bin/env bash
# What each part of LHS is worth: test accuracy over the ten fixed splits with one part switched off at a time,
# all else at its default but for one member (chance between starts is part of the spread then, and the table takes a
# third of the time). Prints a Markdown table. Usage: LHS_DATA=FOLDER benches/ablation.sh [GRAPH…]   (default: four graphs)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with the graphs}"
export LHS_CACHE=$LHS_DATA
[ $# -gt 0 ] || set -- texas wisconsin chameleon cora
cargo build --release --quiet
lhs=$PWD/target/release/lhs

accuracy='import json, sys
result = json.load(sys.stdin)
print("%.2f ± %.2f" % (result["test_accuracy_mean"], result["test_accuracy_std"]))'
row() { # title, settings…
  local title=$1 line="| $1 |"
  shift
  for graph in "${graphs[@]}"; do
    line+=" $("$lhs" train "$graph" --no-config --no-save --quiet --json --set members=1 "$@" | python3 -c "$accuracy") |"
  done
  echo "$line"
}
graphs=("$@")
printf '| |'; printf ' %s |' "${graphs[@]}"; echo
printf '|---|'; printf '%s' "${graphs[@]/*/---|}"; echo
row "all parts"
row "no refinement (rounds 0)" --set structure.rounds=0
row "at most one round" --set structure.rounds=1
row "every round kept" --set structure.rounds_must_pay=false
row "every round kept, no cross-fitting" --set structure.rounds_must_pay=false --set structure.refiner.folds=1
row "no reconstruction" --set reconstruction.weight=0
row "no latent graph" --set latent_hops=0 --set structure.rounds=0 --set reconstruction.weight=0
row "no given graph" --set given_hops=0
row "no profile" --set profile=false
row "features as the only view" --set structure.views=features
row "adjacency as the only view" --set structure.views=adjacency
row "no low-rank filter" --set structure.directions_per_class=0
row "no bootstrap" --set structure.bootstrap=0
row "no pairwise constraint" --set structure.refiner.pairwise_weight=0
row "the paper's pairs, not the vote" --set structure.refiner.constraint=pairs
row "no contrast" --set structure.refiner.contrastive_weight=0
row "no channel dropout" --set channel_dropout=0
row "no top-k (threshold 0.8)" --set structure.top_k=0 --set structure.threshold=0.8
row "three members" --set members=3
