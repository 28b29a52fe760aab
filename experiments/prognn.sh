#!/usr/bin/env bash
# Seconds per epoch of Pro-GNN in DeepRobust 0.2.11 and in lhs: the largest component of Cora, a random 10/10/80 split,
# one thread each, one after the other. An epoch is one step of the graph, with its proximal operators, and two of the
# network. DeepRobust takes EPOCHS epochs, lhs 50 (and 10 more in which the nuclear norm acts in every epoch, the
# published schedule). Exits 1 when lhs is less than 10 times faster.
# Usage: LHS_DATA=FOLDER experiments/prognn.sh [EPOCHS]      (default: 3)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with cora.npz}"
epochs=${1:-3}
peers=${LHS_PEERS:-target/peers}
packages=target/deeprobust
[ -x "$peers/bin/python" ] || experiments/peers/install.sh "$peers"
# Pro-GNN itself needs little of what DeepRobust asks for, and nothing old: the rest stays out.
[ -d "$packages/deeprobust" ] || "$peers/bin/python" -m pip install --quiet --target "$packages" --no-deps \
  deeprobust==0.2.11 scipy scikit-learn joblib cloudpickle threadpoolctl narwhals tqdm
lhs=${LHS_BIN:-target/release/lhs}
[ -n "${LHS_BIN:-}" ] || cargo build --release --quiet
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$lhs" data convert "$LHS_DATA/cora.npz" --to "$work/cora.npz" --largest-component --splits random:0.1,0.1,0.8 \
  --quiet >/dev/null
PYTHONPATH=$packages OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$peers/bin/python" experiments/peers/deeprobust_prognn.py \
  "$work/cora.npz" "$epochs" >"$work/theirs"
ours() { # file, epochs, settings…
  local file=$1 epochs=$2
  shift 2
  "$lhs" train "$work/cora.npz" --model pro-gnn --split 0 --no-config --no-save --threads 1 --quiet --json \
    --set training.epochs="$epochs" --set training.patience="$epochs" "$@" >"$file"
}
ours "$work/ours.json" 50
ours "$work/every.json" 10 --set low_rank_every=1
"$peers/bin/python" - "$work" <<'PYTHON'
import json, sys
work = sys.argv[1]
theirs, their_memory, *_ = map(float, open(f"{work}/theirs").read().split())
def ours(name):
    found = json.load(open(f"{work}/{name}.json"))
    return found["seconds"] / found["per_split"][0]["epochs"], found["peak_memory_bytes"] / 2**20
seconds, memory = ours("ours")
every, every_memory = ours("every")
print("| Pro-GNN, Cora's largest component | seconds per epoch | peak memory |")
print("|---|---|---|")
print(f"| DeepRobust 0.2.11 | {theirs:.2f} | {their_memory / 1024:.0f} MB |")
print(f"| lhs | {seconds:.3f} | {memory:.0f} MB |")
print(f"| lhs, nuclear norm in every epoch | {every:.3f} | {every_memory:.0f} MB |")
print(f"lhs is {theirs / seconds:.1f} times faster, {theirs / every:.1f} times with the published schedule")
sys.exit(theirs / seconds < 10)
PYTHON
