"""Prints our milliseconds beside PyTorch's and PyTorch Geometric's, and fails when a ratio is below its floor.

Reads target/peers/{lhs,pytorch,pyg}-ROUND.json, takes the best round of each.  Usage: ratios.py ROUNDS
With CSV=FILE in the environment adds rows for results/ there.
"""

import csv
import json
import os
import sys

ROWS = [
    ("GCN epoch, Cora", "gcn_cora", "gcn_cora", 2.0),
    ("  with dropout", "gcn_cora_dropout", "gcn_cora_dropout", 2.0),
    ("GCN epoch, Squirrel", "gcn_squirrel", "gcn_squirrel", 1.5),
    ("  with dropout", "gcn_squirrel_dropout", "gcn_squirrel_dropout", 1.5),
    ("InfoNCE step, eager", "info_nce", "info_nce", 1.4),
    ("InfoNCE step, compiled", "info_nce", "info_nce_compiled", 1.4),
]

rounds = range(1, int(sys.argv[1]) + 1)


def best(who):
    runs = [json.load(open(f"target/peers/{who}-{n}.json")) for n in rounds]
    merged = dict(runs[0])
    for key, value in merged.items():
        if isinstance(value, dict) and "milliseconds" in value:
            merged[key] = min((run[key] for run in runs), key=lambda run: run["milliseconds"])
    return merged


MODELS = {"gcn": "GCN", "gat": "GAT", "graphsage": "GraphSAGE"}
GRAPHS = {"cora": "Cora", "squirrel": "Squirrel", "pubmed": "PubMed"}
KEYS = [(f"{model} epoch, {graph}", f"{m}_{g}") for m, model in MODELS.items() for g, graph in GRAPHS.items()]
GEOMETRIC = [row for name, key in KEYS for row in [(name, key, key, 2.0), ("  with dropout", f"{key}_dropout", f"{key}_dropout", 2.0)]]

ours = best("lhs")
short, rows = 0, []


def compare(theirs, table, header):
    global short
    above = ""
    print(f"{ours['what']} against {theirs['what']}, {ours['threads']} thread(s)")
    for name, our_key, their_key, floor in header:
        mine, other = ours[our_key]["milliseconds"], theirs[their_key]["milliseconds"]
        ratio = other / mine
        short += ratio < floor
        mark = "" if ratio >= floor else f"   BELOW the floor of {floor}"
        way = f" ({theirs[their_key]['way']})" if "way" in theirs[their_key] else ""
        print(f"{name:24} {mine:8.2f} ms {other:8.2f} ms{way}   {ratio:5.2f} times faster{mark}")
        above = name if not name.startswith(" ") else f"{above}, with dropout 0.5"
        threads = {1: "one thread", 2: "two threads"}.get(ours["threads"], f"{ours['threads']} threads")
        note, who = f"best of {len(rounds)} rounds in turns", theirs["what"].rpartition(" ")[0]
        for model, figure, value, unit in [("lhs", "milliseconds", mine, "ms"), (who, "milliseconds", other, "ms"), ("lhs", "ratio", ratio, "times")]:
            rows.append([table, above, threads, model, "", figure, f"{value:.2f}", "", "", unit, note, "experiments/peers/compare.sh"])


theirs = best("pytorch")
compare(theirs, "pytorch", ROWS)
compare(best("pyg"), "pyg", GEOMETRIC)
loss = abs(ours["info_nce"]["loss"] - theirs["info_nce"]["loss"])
print(f"the InfoNCE losses differ by {loss:.1e}")
if out := os.environ.get("CSV"):
    new = not os.path.exists(out)
    with open(out, "a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow("table,data,state,model,variant,figure,mean,std,splits,unit,note,source".split(","))
        writer.writerows(rows)
sys.exit(short > 0 or loss > 1e-3)
