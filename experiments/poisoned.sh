#!/usr/bin/env bash
# Test accuracy of models that learned from graphs which metattack poisoned: the largest components of Cora and Citeseer, one random
# 10/10/80 split, defaults of every model, ten training seeds; the attack has a seed of its own. Prints rows of results/.
# Usage: LHS_DATA=FOLDER [ATTACK_SEED=11] [SEEDS="0 1 …"] experiments/poisoned.sh [MODEL…]     (default: six models)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with cora.npz and citeseer.npz}"
seed=${ATTACK_SEED:-11} seeds=${SEEDS:-0 1 2 3 4 5 6 7 8 9}
lhs=${LHS_BIN:-target/release/lhs}
[ -n "${LHS_BIN:-}" ] || cargo build --release --quiet
[ $# -gt 0 ] || set -- lhs mlp gcn gnnguard simp-gcn gcn-jaccard
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
row='import json, statistics, sys
graph, rate, model, seed, *files = sys.argv[1:]
found = [json.load(open(file))["test_accuracy_mean"] for file in files]
state = "clean" if rate == "0" else f"metattack {rate} poisoning"
note = f"attack seed {seed}; training seeds: " + " ".join("%.1f" % value for value in found)
print(f"poisoned,\"{graph}, largest component\",{state},{model},,test_accuracy,{statistics.mean(found):.2f},{statistics.pstdev(found):.2f},1,%,\"{note}\",experiments/poisoned.sh")'
echo "table,data,state,model,variant,figure,mean,std,splits,unit,note,source"
for graph in cora citeseer; do
  "$lhs" data convert "$LHS_DATA/$graph.npz" --to "$work/$graph-0.npz" --largest-component --splits random:0.1,0.1,0.8 --num-splits 1 \
    --quiet > /dev/null
  for rate in 0.1 0.25; do
    "$lhs" attack metattack "$work/$graph-0.npz" --rate $rate --seed "$seed" --quiet --out "$work/$graph-$rate.npz" > /dev/null
  done
  for rate in 0 0.1 0.25; do
    for model in "$@"; do
      # Each training has its own seed; two at a time.
      printf '%s\n' $seeds | xargs -P 2 -I{} sh -c '"$1" train "$2" --model "$3" --seed {} --split 0 --no-config --no-save --threads 1 --quiet --json \
        > "$4-{}.json"' sh "$lhs" "$work/$graph-$rate.npz" "$model" "$work/$model-$graph-$rate"
      python3 -c "$row" "$graph" "$rate" "$model" "$seed" "$work/$model-$graph-$rate"-*.json
    done
  done
done
