#!/usr/bin/env bash
# Runs the same work in lhs, in PyTorch and in PyTorch Geometric, one after the other on the same threads, and prints the ratios.
# Exits 1 when a ratio falls below its floor: GCN epoch 2.0 (Cora) and 1.5 (Squirrel), InfoNCE 1.4; 2.0 beside PyTorch Geometric.
# Usage: LHS_DATA=FOLDER experiments/peers/compare.sh [THREADS]      (default: 1)     ROUNDS=3; CSV=FILE adds rows for results/ there
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${LHS_DATA:?set LHS_DATA to the folder with cora.npz, squirrel.npz and pubmed.npz}"
threads=${1:-1}
LHS_DATA=$(realpath "$LHS_DATA")
export LHS_DATA
export LHS_PEERS=${LHS_PEERS:-target/peers}
python=$LHS_PEERS/bin/python
"$python" -c 'import torch, torch_geometric' 2>/dev/null || experiments/peers/install.sh "$LHS_PEERS"
mkdir -p target/peers
# Large buffers are kept instead of being returned to the system after each step: PyTorch at its best.
export MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=17179869184 MALLOC_TOP_PAD_=1073741824
export TORCHINDUCTOR_CACHE_DIR=$PWD/target/peers/inductor
cargo bench --quiet --no-run --bench epochs
cores="0-$((threads - 1))"
# In turns, so that a slow minute of the machine falls on both; the best of each counts.
rounds=${ROUNDS:-3}
for round in $(seq $rounds); do
  taskset -c "$cores" cargo bench --quiet --bench epochs -- --threads "$threads" >"target/peers/lhs-$round.json"
  taskset -c "$cores" "$python" experiments/peers/pytorch.py "$LHS_DATA" "$threads" \
    >"target/peers/pytorch-$round.json"
  taskset -c "$cores" "$python" experiments/peers/pyg.py "$LHS_DATA" "$threads" >"target/peers/pyg-$round.json"
done
"$python" experiments/peers/ratios.py $rounds
