#!/usr/bin/env bash
# Test accuracy of the models on the nine graphs of the paper, ten fixed splits each, with the shipped settings.
# Prints a Markdown table: mean ± standard deviation over the splits, in percent.
# Usage: LHS_DATA=FOLDER [GRAPHS="texas cora"] benches/baselines.sh [MODEL…]      (default: mlp gcn)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with the graphs}"
graphs=${GRAPHS:-texas cornell wisconsin chameleon squirrel actor cora citeseer pubmed}
[ $# -gt 0 ] || set -- mlp gcn
cargo build --release --quiet
format='import json, sys
result = json.load(sys.stdin)
accuracy = "%.2f ± %.2f" % (result["test_accuracy_mean"], result["test_accuracy_std"])
print("%s | %.1f s | %.0f MB" % (accuracy, result["seconds"], result["peak_memory_bytes"] / 1e6))'
for model in "$@"; do
  echo "| $model | test accuracy | ten splits | peak memory |"
  echo "|---|---|---|---|"
  for graph in $graphs; do
    row=$(LHS_CACHE=$LHS_DATA target/release/lhs train "$graph" --model "$model" --no-save --quiet --json | python3 -c "$format")
    echo "| $graph | $row |"
  done
  echo
done
