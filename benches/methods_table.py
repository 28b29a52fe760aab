"""Puts what was measured into the tables of docs/models.md: accuracies, and with --times the seconds per split.

A cell is replaced where something was measured, all others stay; the paper's figure in a cell stays, too, and the last column is
worked out again. A dagger marks what has no settings in configs/, or settings of a search in which no trial was over.
Usage: methods_table.py [--times] RUN…      a folder of `lhs bench methods`, or a file from `lhs train … --json`
"""

import json
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/models.md"


def measured(runs):
    """(model, dataset) -> {split: (accuracy, seconds)}; of several measurements of a split, the last."""
    found = {}
    for run in map(Path, runs):
        if run.is_dir():
            for cell in map(json.loads, (run / "cells.jsonl").read_text().splitlines()):
                if "result" in cell:
                    splits = found.setdefault((cell["model"], cell["dataset"]), {})
                    splits[cell["split"]] = (cell["result"]["test_accuracy"], cell["result"]["train_seconds"])
        else:
            record = json.loads(run.read_text())
            splits = found.setdefault((record["model"], record["dataset"]), {})
            for split in record["per_split"]:
                splits[split["split"]] = (split["test_accuracy"], split["seconds"])
    return found


def searched(model, dataset):
    """Whether the settings of a model come from a search in which a trial was over."""
    for folder in ["configs/one-budget", "configs"]:
        path = ROOT / folder / f"{dataset}.toml"
        header = re.search(rf"((?:^#.*\n)+)\[{model}[].]", path.read_text(), re.M) if path.exists() else None
        if header:
            return "(0 finished" not in header[1]
    return False


def accuracy(model, dataset, splits, old):
    paper = re.search(r"\([\d.]+\*?\)", old)
    text = f"{statistics.mean(accuracy for accuracy, _ in splits.values()):.1f}"
    text += "" if searched(model, dataset) else "†"
    text += "" if len(splits) == 10 else f" [{len(splits)}]"
    return text + (f" {paper[0]}" if paper else "")


def mean_difference(cells):
    pairs = [re.match(r"([\d.]+)[^(]*\(([\d.]+)\)", cell) for cell in cells]
    apart = [float(pair[1]) - float(pair[2]) for pair in pairs if pair]
    return f"{statistics.mean(apart):+.1f} ({len(apart)})" if apart else ""


def updated(lines, first, cell_of, last_of=None):
    """The table whose head is the line number `first`, its cells renewed."""
    datasets = [name.strip() for name in lines[first].split("|")[2:-1]]
    for at in range(first + 2, len(lines)):
        if not lines[at].startswith("| `"):
            return
        name, *cells = [cell.strip() for cell in lines[at].split("|")[1:-1]]
        model = name.strip("`")
        cells = [cell_of(model, dataset, old) for dataset, old in zip(datasets, cells)]
        if last_of:
            cells[-1] = last_of(cells[:-1])
        lines[at] = f"| {name} | " + " | ".join(cells) + " |"


def main():
    times = "--times" in sys.argv
    found = measured(arg for arg in sys.argv[1:] if arg != "--times")
    lines = PAGE.read_text().split("\n")
    heads = [at for at, line in enumerate(lines) if line.startswith("| model | ") and "texas" in line]
    for at in heads:
        if "mean difference" in lines[at]:
            cell = lambda model, dataset, old: (
                accuracy(model, dataset, found[model, dataset], old) if (model, dataset) in found else old
            )
            updated(lines, at, cell, mean_difference)
        elif times:
            seconds = lambda splits: f"{statistics.mean(seconds for _, seconds in splits.values()):.1f}"
            updated(lines, at, lambda m, d, old: seconds(found[m, d]) if (m, d) in found else old)
    PAGE.write_text("\n".join(lines))


main()
