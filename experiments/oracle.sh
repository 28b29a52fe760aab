#!/usr/bin/env bash
# How much of the damage of poisoning could be undone by whoever knew which edges were added: test accuracy of LHS
# trained on the clean graph, on what metattack left, and on that without exactly the edges that it added (those that it
# removed stay removed). Split 0, seed 0, settings of configs/. Prints a Markdown table.
# Usage: LHS_DATA=FOLDER [RATE=0.25] experiments/oracle.sh [GRAPH…]   (default: chameleon squirrel)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with the graphs}"
export LHS_CACHE=$LHS_DATA
[ $# -gt 0 ] || set -- chameleon squirrel
lhs=${LHS_BIN:-$PWD/target/release/lhs}
[ -n "${LHS_BIN:-}" ] || cargo build --release --quiet
rate=${RATE:-0.25}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

accuracy() { # graph, data
  "$lhs" train "$2" --no-config --config "crates/lhs/configs/$1.toml" --split 0 --no-save --quiet --json |
    python3 -c 'import json, sys; print("%.1f" % json.load(sys.stdin)["test_accuracy_mean"])'
}
echo "| metattack, rate $rate | clean | attacked | attacked, without the added edges |"
echo "|---|---|---|---|"
for graph in "$@"; do
  "$lhs" attack metattack "$graph" --rate "$rate" --split 0 --quiet --out "$work/attacked.npz" --force > /dev/null
  for state in clean attacked; do
    data=$graph
    [ $state = clean ] || data=$work/attacked.npz
    "$lhs" data convert "$data" --quiet --to "$work/$state" --force > /dev/null
  done
  { echo source,target; sort <(tail -n +2 "$work/clean/edges.csv") <(tail -n +2 "$work/attacked/edges.csv") | uniq -d; } > "$work/kept.csv"
  "$lhs" data convert "$graph" --edges "$work/kept.csv" --quiet --to "$work/kept.npz" --force > /dev/null
  echo "| $graph | $(accuracy "$graph" "$graph") | $(accuracy "$graph" "$work/attacked.npz") | $(accuracy "$graph" "$work/kept.npz") |"
done
