#!/usr/bin/env bash
# Searches settings for a model on the nine graphs, with one budget for all: 40 trials on the ten fixed splits, by
# validation accuracy. Writes the section [MODEL] of configs/GRAPH.toml.
# LHS is searched with one member, for time; what is published has the default members.
# Usage: LHS_DATA=FOLDER [GRAPHS="texas cora"] benches/search.sh [MODEL]      (default: lhs)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with the graphs}"
graphs=${GRAPHS:-texas cornell wisconsin chameleon squirrel actor cora citeseer pubmed}
model=${1:-lhs}
fixed=()
[ "$model" != lhs ] || fixed=(--set members=1)
cargo build --release --quiet
for graph in $graphs; do
  LHS_CACHE=$LHS_DATA target/release/lhs tune "$graph" --model "$model" --trials 40 --split all --seed 0 "${fixed[@]}"
  sed -i '/^members = 1$/d' "configs/$graph.toml"
done
