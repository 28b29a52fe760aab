#!/usr/bin/env bash
# Does the right-shift of an attack tell what it costs? For every graph and attack: how much farther to the right the
# test nodes' heterophily lies than the training nodes' after the attack than before it, and what a GCN trained on the
# clean graph loses (split 0, one attack each); at the end Spearman's rank correlation over all of them. With LHS=1, also
# the mean heterophily of the test nodes in the latent graph of LHS after the first and the last round, under each attack.
# Usage: LHS_DATA=FOLDER [GRAPHS="…"] [LHS=1] benches/shift.sh [NAME:RATE…]
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LHS_DATA:?set LHS_DATA to the folder with the graphs}"
export LHS_CACHE=$LHS_DATA
[ $# -gt 0 ] || set -- injected:0.5 injected:1 ood:0.5 ood:1 random:0.25 random:0.5 dice:0.25 dice:0.5 prbcd:0.1 prbcd:0.25 \
  metattack:0.05 adaptive:1
graphs=${GRAPHS:-texas wisconsin chameleon squirrel actor cora citeseer}
cargo build --release --quiet
lhs=$PWD/target/release/lhs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for graph in $graphs; do
  folder=$work/$graph
  mkdir -p "$folder"
  "$lhs" train "$graph" --model gcn --split 0 --quiet --out "$folder/gcn" > /dev/null
  run=()
  if [ -n "${LHS:-}" ]; then
    "$lhs" train "$graph" --set structure.rounds_must_pay=false --set structure.rounds=2 --split 0 --quiet --out "$folder/lhs" > /dev/null
    run=(--run "$folder/lhs")
  fi
  for column in "$@"; do
    file=$folder/${column%:*}-${column#*:}.npz
    "$lhs" attack "${column%:*}" "$graph" --rate "${column#*:}" --out "$file" --quiet > /dev/null
    "$lhs" evaluate "$folder/gcn" --data "$file" --quiet --json > "${file%.npz}.json"
  done
  "$lhs" evaluate "$folder/gcn" --quiet --json > "$folder/clean.json"
  "$lhs" audit "$graph" --against "$folder"/*.npz "${run[@]}" --hops 1 --quiet --json > "$folder/audit"
done
python3 - "$work" $graphs <<'PYTHON'
import json, pathlib, sys

def ranks(values):
    order = sorted(values)
    return [order.index(value) + (order.count(value) - 1) / 2 for value in values]

def correlation(a, b):
    a, b = ranks(a), ranks(b)
    mean = (len(a) - 1) / 2
    product = lambda x, y: sum((i - mean) * (j - mean) for i, j in zip(x, y))
    return product(a, b) / (product(a, a) * product(b, b)) ** 0.5

rows = []
for graph in sys.argv[2:]:
    folder = pathlib.Path(sys.argv[1], graph)
    audit = json.load(open(folder / "audit"))
    accuracy = lambda path: json.load(open(path))["test_accuracy_mean"]
    clean = accuracy(folder / "clean.json")
    at = lambda data: {s["graph"]: s for s in audit["samples"] if s["data"] == data and s["part"] == "test"}
    before = at("clean")["given"]["shift"]["mean_shift"]
    for path in sorted(folder.glob("*-*.json")):
        samples = at(path.stem)
        shift = samples["given"]["shift"]["mean_shift"] - before
        latent = [f"{s['mean']:.3f}" for name, s in samples.items() if name != "given"]
        rows.append((graph, path.stem, shift, clean - accuracy(path), samples["given"]["mean"], latent))
print("| graph | attack | shift | GCN loses | H given | H latent, by rounds |")
print("|---|---|---|---|---|---|")
for graph, attack, shift, loss, given, latent in rows:
    print(f"| {graph} | {attack} | {shift:+.3f} | {loss:.1f} | {given:.3f} | {' '.join(latent)} |")
print()
print(f"rank correlation over {len(rows)} rows: {correlation([r[2] for r in rows], [r[3] for r in rows]):.2f}")
for graph in sys.argv[2:]:
    own = [row for row in rows if row[0] == graph]
    print(f"  {graph}: {correlation([r[2] for r in own], [r[3] for r in own]):.2f}")
PYTHON
