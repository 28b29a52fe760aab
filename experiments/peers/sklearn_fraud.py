"""Average precision and ROC AUC of balanced logistic regression on the graphs of experiments/fraud.sh, beside those of lhs."""

import csv
import json
import statistics
import sys
from pathlib import Path

import numpy
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.preprocessing import StandardScaler

folder, first, last = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def logistic(seed, parts):
    graph = folder / f"graph-{seed}"
    features = {row.pop("node"): [float(value) for value in row.values()] for row in rows(graph / "features.csv")}
    labels = {row["node"]: int(row["label"]) for row in rows(graph / "labels.csv")}
    split = {row["node"]: row["part"] for row in rows(graph / "splits.csv")}
    nodes = {part: [node for node in split if split[node] in part] for part in (parts, ("test",))}
    x = {part: numpy.array([features[node] for node in ids]) for part, ids in nodes.items()}
    y = {part: numpy.array([labels[node] for node in ids]) for part, ids in nodes.items()}
    scaler = StandardScaler().fit(x[parts])
    model = LogisticRegression(class_weight="balanced", max_iter=1000).fit(scaler.transform(x[parts]), y[parts])
    scores = model.predict_proba(scaler.transform(x[("test",)]))[:, 1]
    return 100 * average_precision_score(y[("test",)], scores), 100 * roc_auc_score(y[("test",)], scores)


found = {"logistic regression": [], "logistic regression, validation labels too": []}
for seed in range(first, last + 1):
    found["logistic regression"].append(logistic(seed, ("train",)))
    found["logistic regression, validation labels too"].append(logistic(seed, ("train", "val")))
for model in ("gcn", "mlp", "lhs", "scaled"):
    documents = [json.loads((folder / f"{model}-{seed}.json").read_text()) for seed in range(first, last + 1)]
    name = "lhs, a column times 100,000" if model == "scaled" else model
    found[name] = [(d["test_average_precision_mean"], d["test_roc_auc_mean"]) for d in documents]
print(f"{'seeds ' + str(first) + ' to ' + str(last):45} average precision      ROC AUC")
for name, figures in found.items():
    average, auc = zip(*figures)
    spread = statistics.stdev(average) if len(average) > 1 else 0.0
    print(f"{name:45} {statistics.mean(average):8.2f} ± {spread:5.2f}   {statistics.mean(auc):10.2f}   {[round(a, 1) for a in average]}")
moved = [abs(a[0] - b[0]) for a, b in zip(found["lhs"], found["lhs, a column times 100,000"])]
print(f"a column times 100,000 moves the average precision of lhs by at most {max(moved) / 100:.4f}")
