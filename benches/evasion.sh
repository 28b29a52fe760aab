#!/usr/bin/env bash
# Test accuracy of the models, with their shipped settings, before and after attacks on the data that they meet after
# training (ten fixed splits, three repeats). Prints a Markdown table. A column is an attack and its rate, NAME:RATE.
# Usage: LHS_DATA=FOLDER [GRAPHS="…"] [MODELS="mlp gcn lhs"] benches/evasion.sh [NAME:RATE…]
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with the graphs}"
export LHS_CACHE=$LHS_DATA
[ $# -gt 0 ] || set -- ood:1 injected:1 adaptive:1
graphs=${GRAPHS:-wisconsin texas chameleon squirrel actor}
models=${MODELS:-mlp gcn lhs}
cargo build --release --quiet
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
clean='import json, sys
print("%.2f" % json.load(sys.stdin)["test_accuracy_mean"])'
attacked='import json, sys
at = json.load(sys.stdin)["rates"][0]
print("%.2f ± %.2f" % (at["test_accuracy_mean"], at["test_accuracy_std"]))'
printf '| graph | model | clean |'; printf ' %s |' "$@"; echo
printf '|---|---|---|'; printf '%s' "${@/*/---|}"; echo
for graph in $graphs; do
  for model in $models; do
    run=$runs/$graph-$model
    line="| $graph | $model | $(target/release/lhs train "$graph" --model "$model" --quiet --json --out "$run" | python3 -c "$clean") |"
    for column in "$@"; do
      line+=" $(target/release/lhs evaluate "$run" --attack "${column%:*}" --rate "${column#*:}" --quiet --json | python3 -c "$attacked") |"
    done
    echo "$line"
    rm -rf "$run"
  done
done
