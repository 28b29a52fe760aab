#!/usr/bin/env bash
# PRBCD in PyTorch Geometric and in lhs: Cora, split 0, a share of the edges as budget, blocks of 250,000 pairs, 125 steps, two
# threads each, one after the other; each attacks a GCN of its own with the same settings. Prints a Markdown table; exits 1 when
# lhs is less than ten times faster.
# Usage: LHS_DATA=FOLDER experiments/prbcd.sh [RATE]      (default: 0.05)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with cora.npz}"
rate=${1:-0.05}
peers=${LHS_PEERS:-target/peers}
[ -x "$peers/bin/python" ] || experiments/peers/install.sh "$peers"
"$peers/bin/python" -c 'import torch_geometric' 2>/dev/null || "$peers/bin/pip" install --quiet torch_geometric tqdm
cargo build --release --quiet
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$peers/bin/python" experiments/peers/pyg_prbcd.py "$LHS_DATA/cora.npz" "$rate" "$work/theirs.json"
target/release/lhs train "$LHS_DATA/cora.npz" --model gcn --no-config --split 0 --quiet --out "$work/run" > /dev/null
target/release/lhs evaluate "$work/run" --attack prbcd --rate "$rate" --repeats 1 --transductive --threads 2 --quiet --json > "$work/ours.json"
"$peers/bin/python" - "$work/ours.json" "$work/theirs.json" <<'PYTHON'
import json, sys
ours, theirs = (json.load(open(path)) for path in sys.argv[1:])
cell = ours["rates"][0]["cells"][0]
clean, attacked = ours["clean_test_accuracy_mean"], cell["test_accuracy"]
print("| PRBCD on Cora | GCN, clean | attacked | flips | seconds |")
print("|---|---|---|---|---|")
print(f"| PyTorch Geometric | {theirs['clean']:.2f} | {theirs['attacked']:.2f} | {theirs['flips']} | {theirs['seconds']:.2f} |")
print(f"| lhs | {clean:.2f} | {attacked:.2f} | {cell['edges_added'] + cell['edges_removed']} | {cell['seconds']:.2f} |")
ratio = theirs["seconds"] / cell["seconds"]
print(f"lhs is {ratio:.1f} times faster")
sys.exit(ratio < 10)
PYTHON
