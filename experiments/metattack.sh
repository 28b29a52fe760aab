#!/usr/bin/env bash
# Seconds per flip and peak memory of metattack (meta-self) in DeepRobust 0.2.11 and in lhs: the largest component of
# Cora, a random 10/10/80 split, one thread each, one after the other. DeepRobust takes FLIPS flips, lhs 5 % of the edges
# with one gradient per flip. Exits 1 when lhs is less than 100 times faster or needs 200 MB.
# Usage: LHS_DATA=FOLDER experiments/metattack.sh [FLIPS]      (default: 3)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with cora.npz}"
flips=${1:-3}
peers=${LHS_PEERS:-target/peers}
packages=target/deeprobust
[ -x "$peers/bin/python" ] || experiments/peers/install.sh "$peers"
# Metattack itself needs little of what DeepRobust asks for, and nothing old: the rest stays out.
[ -d "$packages/deeprobust" ] || "$peers/bin/python" -m pip install --quiet --target "$packages" --no-deps \
  deeprobust==0.2.11 scipy scikit-learn joblib cloudpickle threadpoolctl narwhals tqdm
cargo build --release --quiet
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target/release/lhs data convert "$LHS_DATA/cora.npz" --to "$work/cora.npz" --largest-component \
  --splits random:0.1,0.1,0.8 --quiet >/dev/null
PYTHONPATH=$packages OMP_NUM_THREADS=1 "$peers/bin/python" experiments/peers/deeprobust_metattack.py \
  "$work/cora.npz" "$flips" >"$work/theirs"
read -r their_seconds their_memory <"$work/theirs"
target/release/lhs attack metattack "$work/cora.npz" --rate 0.05 --set flips_per_gradient=1 --threads 1 --quiet --json \
  --out "$work/attacked.npz" >"$work/ours.json" &
pid=$!
our_memory=0
# The peak so far, read until the process is gone: no tool beyond the kernel's own file.
while peak=$(awk '/VmHWM/ {print $2}' "/proc/$pid/status" 2>/dev/null) && [ -n "$peak" ]; do
  our_memory=$peak
  sleep 0.2
done
wait "$pid"
"$peers/bin/python" - "$work/ours.json" "$their_seconds" "$their_memory" "$our_memory" <<'PYTHON'
import json, sys
ours = json.load(open(sys.argv[1]))
theirs, their_memory, our_memory = float(sys.argv[2]), float(sys.argv[3]) / 1024, float(sys.argv[4]) / 1024
seconds = ours["seconds"] / ours["budget"]
print("| metattack, Cora's largest component | seconds per flip | peak memory |")
print("|---|---|---|")
print(f"| DeepRobust 0.2.11 | {theirs:.2f} | {their_memory:.0f} MB |")
print(f"| lhs, {ours['budget']} flips | {seconds:.4f} | {our_memory:.0f} MB |")
print(f"lhs is {theirs / seconds:.0f} times faster")
sys.exit(theirs / seconds < 100 or our_memory >= 200)
PYTHON
