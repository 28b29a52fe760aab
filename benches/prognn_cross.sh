#!/usr/bin/env bash
# Is it the attack or the defence? DeepRobust 0.2.11's metattack and ours, at 25 %, against DeepRobust's Pro-GNN and ours: on
# a connected part of Cora's largest component, since DeepRobust needs hours for the whole. A random 10/10/80 split, the
# settings of the authors' script, the same seed for part, attack and training. Ours also with the published
# schedule (the nuclear norm in every epoch). Prints a Markdown table of test accuracies. One thread, minutes per cell.
# Usage: LHS_DATA=FOLDER [NODES=800] [EPOCHS=400] benches/prognn_cross.sh [SEED…]      (default: 0 1)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with cora.npz}"
[ $# -gt 0 ] || set -- 0 1
epochs=${EPOCHS:-400}
peers=${LHS_PEERS:-target/peers}
packages=target/deeprobust
[ -x "$peers/bin/python" ] || benches/peers/install.sh "$peers"
[ -d "$packages/deeprobust" ] || "$peers/bin/python" -m pip install --quiet --target "$packages" --no-deps \
  deeprobust==0.2.11 scipy scikit-learn joblib cloudpickle threadpoolctl narwhals tqdm
lhs=${LHS_BIN:-target/release/lhs}
[ -n "${LHS_BIN:-}" ] || cargo build --release --quiet
export PYTHONPATH=$packages OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$lhs" data convert "$LHS_DATA/cora.npz" --to "$work/cora.npz" --largest-component --quiet > /dev/null

ours() { # data, seed, model, settings…
  local data=$1 seed=$2 model=$3
  shift 3
  "$lhs" train "$data" --model "$model" --no-config "$@" --split 0 --seed "$seed" --no-save --threads 1 --quiet --json |
    python3 -c 'import json, sys; print(round(json.load(sys.stdin)["test_accuracy_mean"], 1))'
}
echo "| seed | attack | gcn | Pro-GNN, DeepRobust | pro-gnn | pro-gnn, low_rank_every=1 |"
echo "|---|---|---|---|---|---|"
for seed in "$@"; do
  "$peers/bin/python" benches/peers/subgraph.py "$work/cora.npz" "${NODES:-800}" "$seed" "$work/part.npz"
  "$lhs" data convert "$work/part.npz" --to "$work/none.npz" --splits random:0.1,0.1,0.8 --force --quiet > /dev/null
  edges=$("$peers/bin/python" -c "import numpy, sys; print(len(numpy.load(sys.argv[1])['edges']))" "$work/none.npz")
  "$peers/bin/python" benches/peers/deeprobust_metattack.py "$work/none.npz" $((edges / 4)) "$seed" "$work/DeepRobust.npz" \
    > /dev/null
  "$lhs" attack metattack "$work/none.npz" --rate 0.25 --seed "$seed" --out "$work/lhs.npz" --force --threads 1 --quiet \
    > /dev/null
  for attack in none DeepRobust lhs; do
    data=$work/$attack.npz
    gcn=$(ours "$data" "$seed" gcn --set hidden=16)
    theirs=$("$peers/bin/python" benches/peers/deeprobust_prognn.py "$data" "$epochs" "$seed" | awk '{ printf "%.1f", $4 }')
    length=(--set training.epochs="$epochs" --set training.patience="$epochs")
    echo "| $seed | $attack | $gcn | $theirs | $(ours "$data" "$seed" pro-gnn "${length[@]}") |" \
      "$(ours "$data" "$seed" pro-gnn "${length[@]}" --set low_rank_every=1) |"
  done
done
