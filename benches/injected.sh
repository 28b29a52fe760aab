#!/usr/bin/env bash
# Test accuracy before and after the injected attack (evasion, rate 1, ten fixed splits, three repeats) of the
# models with their shipped settings. Usage: LHS_DATA=FOLDER benches/injected.sh [GRAPH…]
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with the graphs}"
export LHS_CACHE=$LHS_DATA
[ $# -gt 0 ] || set -- chameleon squirrel
cargo build --release --quiet
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
format='import json, sys
result = json.load(sys.stdin)
attacked = result["rates"][0]
print("%.2f | %.2f ± %.2f" % (result["clean_test_accuracy_mean"], attacked["test_accuracy_mean"], attacked["test_accuracy_std"]))'
echo "| graph | model | clean | injected, rate 1 |"
echo "|---|---|---|---|"
for graph in "$@"; do
  for model in mlp gcn lhs; do
    target/release/lhs train "$graph" --model $model --quiet --out "$runs/$graph-$model" > /dev/null
    figures=$(target/release/lhs evaluate "$runs/$graph-$model" --attack injected --rate 1 --quiet --json | python3 -c "$format")
    echo "| $graph | $model | $figures |"
  done
done
