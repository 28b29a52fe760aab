#!/usr/bin/env bash
# Pro-GNN and a plain GCN (16 hidden units) trained on what metattack left: largest component, a random 10/10/80 split,
# training seeds TRAININGS for each of the attacks SEEDS, Pro-GNN with its defaults. A row is GRAPH:RATE.
# Prints a Markdown table; in brackets, what the paper has for its own attacked graph.
# Usage: LHS_DATA=FOLDER [SEEDS="0 1 2"] [TRAININGS="0 1 2"] experiments/prognn_attacked.sh [GRAPH:RATE…]     (default: Cora and
# Citeseer at 0, 10 and 25 %)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with the graphs}"
[ $# -gt 0 ] || set -- cora:0 cora:0.1 cora:0.25 citeseer:0 citeseer:0.1 citeseer:0.25
lhs=${LHS_BIN:-$PWD/target/release/lhs}
[ -n "${LHS_BIN:-}" ] || cargo build --release --quiet
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

accuracy() { # data, seed, model, settings…
  local data=$1 seed=$2 model=$3
  shift 3
  "$lhs" train "$data" --model "$model" --no-config "$@" --split 0 --seed "$seed" --no-save --threads "${THREADS:-1}" \
    --quiet --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["test_accuracy_mean"])'
}
echo "| graph | rate | attacks x trainings | gcn | pro-gnn |"
echo "|---|---|---|---|---|"
for row in "$@"; do
  IFS=: read -r graph rate <<< "$row"
  settings=() # as the authors weigh the smoothness of features
  [ "$graph" != citeseer ] || settings=(--set smoothness=1e-4)
  clean=$work/$graph.npz
  [ -f "$clean" ] || "$lhs" data convert "$LHS_DATA/$graph.npz" --to "$clean" --largest-component \
    --splits random:0.1,0.1,0.8 --quiet > /dev/null
  rm -f "$work"/of-*
  seeds=${SEEDS:-0 1 2}
  [ "$rate" != 0 ] || seeds=0
  for seed in $seeds; do
    data=$clean
    if [ "$rate" != 0 ]; then
      data=$work/attacked.npz
      "$lhs" attack metattack "$clean" --rate "$rate" --set flips_per_gradient=1 --seed "$seed" --out "$data" --force \
        --threads "${THREADS:-1}" --quiet > /dev/null
    fi
    for training in ${TRAININGS:-0 1 2}; do
      accuracy "$data" "$training" gcn --set hidden=16 >> "$work/of-gcn"
      accuracy "$data" "$training" pro-gnn "${settings[@]}" >> "$work/of-pro-gnn"
    done
  done
  python3 - "$work" "$graph" "$rate" "$(wc -w <<< "$seeds") x $(wc -w <<< "${TRAININGS:-0 1 2}")" <<'PYTHON'
import statistics, sys
work, graph, rate, count = sys.argv[1:]
published = {"cora": {0: (83.5, 83.0), 0.1: (70.4, 79.0), 0.25: (47.5, 69.7)},
             "citeseer": {0: (72.0, 73.3), 0.1: (67.6, 72.5), 0.25: (56.9, 69.0)}}
cells = []
for place, model in enumerate(["gcn", "pro-gnn"]):
    found = [float(line) for line in open(f"{work}/of-{model}")]
    known = published.get(graph, {}).get(float(rate), (None, None))[place]
    beside = f" ({known})" if known else ""
    cells.append(f"{statistics.mean(found):.1f} ± {statistics.pstdev(found):.1f}{beside}")
print(f"| {graph} | {rate} | {count} | {' | '.join(cells)} |")
PYTHON
done
