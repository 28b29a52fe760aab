#!/usr/bin/env bash
# Searches settings of models on the nine graphs under one budget for all: TRIALS trials (default 12; the first has the
# defaults) on the ten fixed splits, by validation accuracy, seed 0. Writes the section [MODEL] of configs/GRAPH.toml.
# Trials that fall behind are given up, so a search costs about as much as four trials would on all splits.
# LHS is searched with one member, for time; what is published has the default members.
# Usage: LHS_DATA=FOLDER [GRAPHS="texas cora"] [TRIALS=12] benches/search.sh MODEL…      (default: every model)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with the graphs}"
graphs=${GRAPHS:-texas cornell wisconsin chameleon cora citeseer actor squirrel pubmed}
lhs=${LHS_BIN:-target/release/lhs}
[ -n "${LHS_BIN:-}" ] || cargo build --release --quiet
models=("$@")
[ $# -gt 0 ] || mapfile -t models < <("$lhs" models | awk '{print $1}')
for graph in $graphs; do
  for model in "${models[@]}"; do
    fixed=()
    [ "$model" != lhs ] || fixed=(--set members=1)
    # A model that refuses a graph, such as pro-gnn on a large one, says why and leaves the others alone.
    LHS_CACHE=$LHS_DATA "$lhs" tune "$graph" --model "$model" --trials "${TRIALS:-12}" --split all --seed 0 "${fixed[@]}" ||
      echo "no settings for $model on $graph"
    sed -i '/^members = 1$/d' "configs/$graph.toml"
  done
done
