#!/usr/bin/env bash
# Does lhs find a rare class better than what people would try first? Ten made-up fraud graphs (5 % positive, 240 labels of 3,000
# nodes, weak features, weak edges): average precision and ROC AUC at the nodes without a label in training, of lhs, mlp, gcn and
# scikit-learn's balanced logistic regression (on the training labels, and on those of the validation nodes as well).
# Then the same for lhs with one feature column times 100,000.
#
#   experiments/fraud.sh [FOLDER] [FIRST SEED] [LAST SEED]        LHS=path/to/lhs PYTHON=python-with-scikit-learn
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-runs/fraud} first=${2:-0} last=${3:-9}
lhs=${LHS:-lhs} python=${PYTHON:-python3}
mkdir -p "$folder"
for seed in $(seq "$first" "$last"); do
  graph=$folder/graph-$seed
  if [ ! -e "$graph" ]; then
    "$lhs" data synth --out "$folder/raw-$seed" --force --nodes 3000 --class-shares 0.95,0.05 --homophily 0.915 --mean-degree 10 \
      --features 16 --signal 1.5 --num-splits 0 --seed "$seed" --quiet > /dev/null
    # As they are: scaling is what is tried here.
    "$lhs" data convert "$folder/raw-$seed" --to "$graph" --scale none --splits random:0.05,0.03,0.92 --num-splits 1 --seed "$seed" --quiet > /dev/null
    rm -f "$graph/dataset.json"
    cp -r "$graph" "$graph-x"
    awk -F, 'BEGIN { OFS = "," } NR > 1 { $4 = $4 * 100000 } { print }' CONVFMT=%.9g OFMT=%.9g "$graph/features.csv" > "$graph-x/features.csv"
  fi
  for model in lhs mlp gcn; do
    out=$folder/$model-$seed.json
    [ -e "$out" ] || "$lhs" train "$graph" --model "$model" --no-save --seed "$seed" --quiet --json ${FLAGS:-} > "$out.part"
    [ -e "$out" ] || mv "$out.part" "$out"
  done
  out=$folder/scaled-$seed.json
  [ -e "$out" ] || "$lhs" train "$graph-x" --no-save --seed "$seed" --quiet --json ${FLAGS:-} > "$out.part"
  [ -e "$out" ] || mv "$out.part" "$out"
done
"$python" "$here/peers/sklearn_fraud.py" "$folder" "$first" "$last"
