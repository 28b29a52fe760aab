#!/usr/bin/env bash
# How much metattack costs a plain GCN (16 hidden units, no skip connection) that is trained on the attacked graph: largest
# component, a random 10/10/80 split, ten training seeds for each of SEEDS attacks. A row is GRAPH:RATE:FLIPS_PER_GRADIENT.
# Prints a Markdown table; the loss is against the same training on the clean graph. MODEL=lhs takes LHS with its defaults.
# Usage: LHS_DATA=FOLDER [SEEDS="0 1 2"] [MODEL=gcn] experiments/strength.sh [GRAPH:RATE:FLIPS…]     (default: the published rows, and
# batched attacks beside exact ones)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with the graphs}"
[ $# -gt 0 ] || set -- cora:0.25:1 citeseer:0.25:1 cora:0.05:1 cora:0.05:2 cora:0.05:8 chameleon:0.05:1 chameleon:0.05:auto
lhs=${LHS_BIN:-$PWD/target/release/lhs}
[ -n "${LHS_BIN:-}" ] || cargo build --release --quiet
model=${MODEL:-gcn}
settings=()
[ "$model" != gcn ] || settings=(--set hidden=16)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

accuracies() { # data -> one accuracy per training seed
  for seed in 0 1 2 3 4 5 6 7 8 9; do
    "$lhs" train "$1" --model "$model" --no-config "${settings[@]}" --split 0 --seed $seed --no-save --quiet --json |
      python3 -c 'import json, sys; print(json.load(sys.stdin)["test_accuracy_mean"])'
  done
}
echo "| graph | rate | flips per gradient | crafted in | clean | attacked | loss |"
echo "|---|---|---|---|---|---|---|"
for row in "$@"; do
  IFS=: read -r graph rate flips <<< "$row"
  data=$work/$graph.npz
  if [ ! -f "$data" ]; then
    "$lhs" data convert "$LHS_DATA/$graph.npz" --to "$data" --largest-component --splits random:0.1,0.1,0.8 --quiet > /dev/null
    accuracies "$data" > "$work/$graph.clean"
  fi
  rm -f "$work/attacked" "$work/seconds"
  for seed in ${SEEDS:-0 1 2}; do
    "$lhs" attack metattack "$data" --rate "$rate" --set flips_per_gradient="$flips" --seed "$seed" --out "$work/a.npz" \
      --force --quiet --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["seconds"])' >> "$work/seconds"
    accuracies "$work/a.npz" >> "$work/attacked"
  done
  python3 - "$work/$graph.clean" "$work/attacked" "$work/seconds" "$graph | $rate | $flips" <<'PYTHON'
import statistics, sys
clean, attacked, seconds = ([float(line) for line in open(path)] for path in sys.argv[1:4])
said = lambda values: f"{statistics.mean(values):.1f} ± {statistics.pstdev(values):.1f}"
loss = statistics.mean(clean) - statistics.mean(attacked)
print(f"| {sys.argv[4]} | {statistics.mean(seconds):.0f} s | {said(clean)} | {said(attacked)} | {loss:.1f} |")
PYTHON
done
