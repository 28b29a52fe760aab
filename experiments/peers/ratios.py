"""Prints our milliseconds beside PyTorch's, and fails when a ratio is below its floor.

Reads target/peers/{lhs,pytorch}-ROUND.json, takes the best round of each.  Usage: ratios.py ROUNDS
"""

import json
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
        if isinstance(value, dict):
            merged[key] = min((run[key] for run in runs), key=lambda run: run["milliseconds"])
    return merged


ours, theirs = best("lhs"), best("pytorch")
print(f"{ours['what']} against {theirs['what']}, {ours['threads']} thread(s)")
short = 0
for name, our_key, their_key, floor in ROWS:
    mine, other = ours[our_key]["milliseconds"], theirs[their_key]["milliseconds"]
    ratio = other / mine
    short += ratio < floor
    mark = "" if ratio >= floor else f"   BELOW the floor of {floor}"
    print(f"{name:24} {mine:8.2f} ms {other:8.2f} ms   {ratio:5.2f} times faster{mark}")
loss = abs(ours["info_nce"]["loss"] - theirs["info_nce"]["loss"])
print(f"the InfoNCE losses differ by {loss:.1e}")
sys.exit(short > 0 or loss > 1e-3)
