#!/usr/bin/env bash
# Time and peak memory of one split of each model on each graph, each in a process of its own, with the settings of configs/.
# Prints a Markdown row per model: seconds and MB on every graph; a dash where the model refuses the graph (it says
# why on stderr) or takes longer than LIMIT seconds (default 900).
# Usage: LHS_DATA=FOLDER [GRAPHS="texas pubmed"] [LIMIT=900] benches/footprint.sh MODEL…      (default: every model)
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with the graphs}"
graphs=${GRAPHS:-texas chameleon pubmed}
lhs=${LHS_BIN:-target/release/lhs}
[ -n "${LHS_BIN:-}" ] || cargo build --release --quiet
models=("$@")
[ $# -gt 0 ] || mapfile -t models < <("$lhs" models | awk '{print $1}')
figures='import json, sys
run = json.load(sys.stdin)
print("%.1f s, %d MB" % (run["seconds"], run["peak_memory_bytes"] / 1e6))'
echo "| model | ${graphs// / | } |"
echo "|---|$(printf -- '---|%.0s' $graphs)"
for model in "${models[@]}"; do
  row="| \`$model\` |"
  for graph in $graphs; do
    cell=$(LHS_CACHE=$LHS_DATA timeout "${LIMIT:-900}" "$lhs" train "$graph" --model "$model" --split 0 --seed 0 --no-save --quiet \
      --json | python3 -c "$figures" 2>/dev/null) || cell=–
    row+=" $cell |"
  done
  echo "$row"
done
