#!/usr/bin/env bash
# Searches settings of models on the nine graphs under one budget for all: at most TRIALS trials (default 40; the first has
# the defaults) and no training begun after SECONDS_EACH seconds (default 60) on the cores of the machine, by validation
# accuracy, seed 0. Texas, Cornell and Wisconsin have few validation nodes, so all ten fixed splits are used there; elsewhere
# the first three. Writes the section [MODEL] of OUT/GRAPH.toml (default OUT: crates/lhs/configs).
# LHS is searched with one encoder, no layers over the latent graph, and all edges alike, for time; what is published has the default
# ensemble, and decides anew how far edges are trusted.
# Usage: LHS_DATA=FOLDER [GRAPHS="texas cora"] [TRIALS=40] [SECONDS_EACH=60] [OUT=crates/lhs/configs] experiments/search.sh MODEL…
#        (default: every model). Nothing else should run meanwhile, or the budget buys less.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with the graphs}"
graphs=${GRAPHS:-texas cornell wisconsin chameleon cora citeseer actor squirrel pubmed}
out=${OUT:-crates/lhs/configs}
lhs=${LHS_BIN:-target/release/lhs}
[ -n "${LHS_BIN:-}" ] || cargo build --release --quiet
models=("$@")
[ $# -gt 0 ] || mapfile -t models < <("$lhs" models | awk '{print $1}')
for graph in $graphs; do
  case $graph in texas | cornell | cornell-geom | wisconsin) splits=all ;; *) splits=0-2 ;; esac
  for model in "${models[@]}"; do
    fixed=()
    [ "$model" != lhs ] || fixed=(--set ensemble_size=1 --set latent_layers=0 --set trust=0)
    # A model that refuses a graph, such as pro-gnn on a large one, says why and leaves the others alone.
    LHS_CACHE=$LHS_DATA "$lhs" tune "$graph" --model "$model" --trials "${TRIALS:-40}" --budget-seconds "${SECONDS_EACH:-60}" \
      --split "$splits" --seed 0 --out "$out/$graph.toml" --study "studies/$(basename "$out")/$graph-$model" "${fixed[@]}" ||
      echo "no settings for $model on $graph"
    [ "$model" != lhs ] || sed -i -e '/^ensemble_size = 1$/d' -e '/^trust = 0\(\.0\)\?$/d' "$out/$graph.toml"
  done
done
