#!/usr/bin/env bash
# Runs the same work in lhs and in PyTorch, one after the other on the same threads, and prints the ratios.
# Exits 1 when a ratio falls below its floor: GCN epoch 2.0 (Cora) and 1.5 (Squirrel), InfoNCE 1.4.
# Usage: LHS_DATA=FOLDER benches/peers/compare.sh [THREADS]      (default: 1)
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${LHS_DATA:?set LHS_DATA to the folder with cora.npz and squirrel.npz}"
threads=${1:-1}
LHS_DATA=$(realpath "$LHS_DATA")
export LHS_DATA
[ -x target/peers/bin/python ] || benches/peers/install.sh
# Large buffers are kept instead of being returned to the system after each step: PyTorch at its best.
export MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=8589934592 MALLOC_TOP_PAD_=268435456
export TORCHINDUCTOR_CACHE_DIR=$PWD/target/peers/inductor
cargo bench --quiet --bench epochs -- --threads "$threads" >target/peers/lhs.json
cores="0-$((threads - 1))"
taskset -c "$cores" target/peers/bin/python benches/peers/pytorch.py "$LHS_DATA" "$threads" >target/peers/pytorch.json
target/peers/bin/python benches/peers/ratios.py target/peers/lhs.json target/peers/pytorch.json
