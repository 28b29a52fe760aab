#!/usr/bin/env bash
# How much is certain, whatever somebody does to a few edges anywhere? Certified accuracy by buckets, with the MLP's line: against changes after
# training (evasion), and of the training graph, too (poisoning). One JSON document for each graph, number of buckets and threat, and the
# table of them as CSV on stdout.
#
#   experiments/certified.sh [FOLDER] [SPLITS]        LHS=path/to/lhs LHS_DATA=folder of the graphs
set -euo pipefail
folder=${1:-runs/certified} splits=${2:-all}
lhs=${LHS:-lhs}
mkdir -p "$folder"
certify() {
  local out=$folder/$1.json; shift
  [ -e "$out" ] || "$lhs" certify "$@" --json --quiet > "$out.part"
  [ -e "$out" ] || mv "$out.part" "$out"
}
for buckets in 5 11 21; do certify "chameleon-$buckets" chameleon --split "$splits" --buckets "$buckets"; done
for buckets in 3 5; do certify "cora-$buckets" cora --split "$splits" --buckets "$buckets"; done
certify squirrel-11 squirrel --split "$splits" --buckets 11
# A training for each bucket: with one member, for the time that it takes.
for graph in cora chameleon; do
  certify "$graph-11-poisoning" "$graph" --split "$splits" --buckets 11 --poisoning --set ensemble_size=1
done
python3 - "$folder" "$splits" <<'END'
import csv, json, pathlib, statistics, sys
folder, splits = pathlib.Path(sys.argv[1]), sys.argv[2]
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow("table,data,state,model,variant,figure,mean,std,splits,unit,note,source".split(","))
for path in sorted(folder.glob("*.json")):
    told = json.loads(path.read_text())
    each = told["per_split"]
    state = "edges changed " + ("before training" if told["poisoning"] else "after training")
    def row(model, figure, values):
        std = f"{statistics.pstdev(values):.2f}" if len(values) > 1 else ""
        splits = "" if len(values) == 10 else f"[{len(values)} splits]" if len(values) > 1 else f"[split {each[0]['split']}]"
        members = told["settings"].get("ensemble_size")
        note = " ".join(filter(None, [splits, f"{members} member" if model != "mlp" and members != "auto" else ""]))
        out.writerow(["certified", told["dataset"], state, model, f"{told['buckets']} buckets", figure,
                      f"{statistics.mean(values):.2f}", std, len(values), "s" if figure == "seconds of a split" else "%", note, "experiments/certified.sh"])
    for radius in range(len(told["certified_accuracy"])):
        row(told["model"], f"certified accuracy at radius {radius}", [one["certified_accuracy"][radius] for one in each])
        row(told["model"], f"collective accuracy at radius {radius}", [one["collective_accuracy"][radius] for one in each])
    row("mlp", "accuracy at every radius", [one["mlp_accuracy"] for one in each])
    row(told["model"], "seconds of a split", [one["seconds"] for one in each])
END
