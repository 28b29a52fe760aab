#!/usr/bin/env bash
# Test accuracy of the models, with their shipped settings, when they are trained on attacked data: one fixed split, the
# same attacked graph for all models. Prints a Markdown table, one row per graph and rate. FLIPS is metattack's
# flips_per_gradient: with the same for all rates, a weak attack takes less time than a strong one.
# Usage: LHS_DATA=FOLDER [GRAPHS="…"] [MODELS="…"] [SPLIT=0] [FLIPS=auto] benches/poisoning.sh [ATTACK]  (default: metattack)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with the graphs}"
export LHS_CACHE=$LHS_DATA
attack=${1:-metattack}
split=${SPLIT:-0}
read -ra models <<< "${MODELS:-mlp gcn lhs}"
cargo build --release --quiet
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
accuracy='import json, sys
print("%.2f" % json.load(sys.stdin)["test_accuracy_mean"])'
settings=()
[ "$attack" != metattack ] || settings=(--set "flips_per_gradient=${FLIPS:-auto}")
crafted='import json, sys
print("%.0f s" % json.load(sys.stdin)["seconds"])'
printf '| graph | rate | crafted in |'; printf ' %s |' "${models[@]}"; echo
printf '|---|---|---|'; printf '%s' "${models[@]/*/---|}"; echo
for graph in ${GRAPHS:-chameleon squirrel actor}; do
  for rate in 0 0.05 0.1 0.15 0.2 0.25; do
    # The file is called like the graph, so that the shipped settings are found.
    data=$folder/$graph.npz
    line="| $graph | $rate | $(target/release/lhs attack "$attack" "$graph" --rate $rate --split "$split" "${settings[@]}" --out "$data" --force --quiet --json | python3 -c "$crafted") |"
    for model in "${models[@]}"; do
      line+=" $(target/release/lhs train "$data" --model "$model" --split "$split" --no-save --quiet --json | python3 -c "$accuracy") |"
    done
    echo "$line"
  done
done
