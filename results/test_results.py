#!/usr/bin/env python3
"""Checks collect.py and tables.py on made-up runs, and that every number of the README's table is in this folder.

Usage: python3 results/test_results.py
"""

import csv
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))
import collect  # noqa: E402
import tables  # noqa: E402


def record(dataset="texas", model="gcn", split=0, accuracy=60.0, attack=None, new=True, **more):
    made = {"key": f"{dataset}{model}{split}{attack}", "dataset": dataset, "model": model, "variant": None, "split": split, "seed": 0, "attack": attack}
    made["settings"] = {"training": {"learning_rate": 0.01}, "hidden": 64}
    if new:
        made |= {"data_sha256": "ab" * 32, "settings_sha256": "cd" * 32, "lhs_version": "0.2.0"}
    if accuracy is not None:
        made["result"] = {
            "train_accuracy": 100.0, "val_accuracy": 61.0169491525, "test_accuracy": accuracy, "test_macro_f1": 40.00000049,
            "train_seconds": 1.23456, "epochs": 200, "peak_memory_bytes": 12_345_678, "curve": [{"epoch": 0}],
        }
    return {**made, **more}


class Folders(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def run_folder(self, name, records, new=True, torn=""):
        run = self.folder / name
        run.mkdir()
        if new:
            data = [{"name": "texas", "sha256": "ab" * 32}]
            manifest = {"format": 2, "lhs_version": "0.2.0", "name": "clean", "suite": {"title": "Clean", "paper": "clean"}, "data": data}
        else:
            manifest = {"format": 1, "version": "0.1.0", "name": "clean", "suite": {"title": "Clean", "paper": "clean"}}
        (run / ("manifest.json" if new else "bench.json")).write_text(json.dumps(manifest))
        (run / "cells.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records) + torn)
        return run

    def collect(self, *arguments):
        out = self.folder / "out.jsonl"
        script = [sys.executable, str(HERE / "collect.py"), *map(str, arguments), "--out", str(out), "--commit", "abc1234", "--machine", "a CPU, 2 cores"]
        subprocess.run(script, check=True, capture_output=True)
        return out.read_text(), [json.loads(line) for line in out.read_text().splitlines()]


class Collect(Folders):
    def test_cells_are_rounded_sorted_and_the_last_success_counts(self):
        evil = {"name": "injected", "rate": 1.0, "poisoning": False, "repeat": 0}
        records = [
            record(split=1, accuracy=59.4594594594594),
            record(split=0, attack=evil),
            record(split=0, accuracy=50.0),
            record(split=0, accuracy=62.16216216),
            record(split=0, accuracy=None, error="disk full"),
            record("cornell", "mlp", accuracy=None, error="first"),
            record("cornell", "mlp", accuracy=None, error="second"),
        ]
        run = self.run_folder("run", records, torn='{"key": "to')
        text, (head, *cells) = self.collect(run)
        self.assertEqual([(c["data"], c["model"], c["attack"] and c["attack"]["name"], c["split"]) for c in cells],
                         [("cornell", "mlp", None, 0), ("texas", "gcn", None, 0), ("texas", "gcn", None, 1), ("texas", "gcn", "injected", 0)])
        self.assertEqual(cells[0]["error"], "second")
        self.assertNotIn("test", cells[0])
        good = cells[1]
        self.assertEqual((good["test"], good["val"], good["train"], good["f1"], good["seconds"], good["epochs"], good["peak_mb"]), (62.162162, 61.016949, 100, 40, 1.235, 200, 12.3))
        self.assertEqual((good["data_sha256"], good["settings_sha256"], good["version"]), ("ab" * 8, "cd" * 8, "0.2.0"))
        self.assertNotIn("curve", text)
        self.assertEqual({key: head[key] for key in ["suite", "title", "command", "machine", "lhs_version", "commit", "cells"]},
                         {"suite": "clean", "title": "Clean", "command": "lhs bench clean", "machine": "a CPU, 2 cores", "lhs_version": "0.2.0", "commit": "abc1234", "cells": 4})
        self.assertRegex(head["date"], r"^\d{4}-\d\d-\d\d$")
        self.assertEqual(head["settings"]["gcn"]["cd" * 8], {"training": {"learning_rate": 0.01}, "hidden": 64})
        self.assertEqual(text, self.collect(run)[0], "the same twice")

    def test_old_folders_are_read(self):
        run = self.run_folder("old", [record(new=False), record("cora", new=False)], new=False)
        hashes = self.folder / "hashes.json"
        hashes.write_text(json.dumps({"texas": "ef" * 32}))
        _, (head, cora, texas) = self.collect(run, "--data-hashes", hashes)
        self.assertEqual((texas["version"], texas["data_sha256"], cora["data_sha256"]), ("0.1.0", "ef" * 8, None))
        import hashlib
        wanted = hashlib.sha256(b'{"hidden":64,"training":{"learning_rate":0.01}}').hexdigest()[:16]
        self.assertEqual(texas["settings_sha256"], wanted)

    def test_large_files_name_their_columns_once_and_are_read_the_same(self):
        evil = {"name": "injected", "rate": 0.5, "poisoning": False, "repeat": 0}
        names = [f"graph{number}" for number in range(150)]
        records = [record(name, split=split, attack=attack) for name in names for split in range(10) for attack in (None, evil)]
        records.append(record("graph0", "mlp", accuracy=None, error="too large"))
        run = self.run_folder("large", records)
        text, (head, *lists) = self.collect(run)
        self.assertIsInstance(lists[0], list)
        self.assertLess(len(text), 300_000)
        self.assertEqual((head["every_cell"]["version"], head["every_cell"]["seed"]), ("0.2.0", 0))
        cells = collect.read_cells(self.folder / "out.jsonl")[1]
        records = sorted(collect.best(collect.read_run(run, {})[1]), key=collect.place)
        self.assertEqual(cells, [collect.cell(r) for r in records], "nothing is lost")


class Tables(Folders):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "root"
        (self.root / "results/2026-11").mkdir(parents=True)
        shutil.copy(HERE / "paper.csv", self.root / "results")
        carried = sorted(HERE.glob("*/carried-over.csv"))[-1]
        shutil.copy(carried, self.root / "results/2026-11")
        (self.root / "README.md").write_text(f"before\n{tables.BEGIN}\nold\n{tables.END}\nafter\n")

    def make(self, *arguments):
        script = [sys.executable, str(HERE / "tables.py"), "--root", str(self.root), *arguments]
        return subprocess.run(script, capture_output=True, text=True).returncode

    def pages(self):
        return {path.name: path.read_text() for path in [*self.root.glob("book/src/results/*.md"), self.root / "README.md"]}

    def test_cells_win_and_nothing_changes_twice(self):
        self.assertEqual(self.make("--check"), 1)
        self.assertNotIn("book", [path.name for path in self.root.iterdir()], "--check writes nothing")
        self.assertEqual(self.make(), 0)
        before = self.pages()
        self.assertEqual(len(before), 6)
        self.assertIn("**86.76 ± 3.07°** (86.32)", before["README.md"])
        self.assertIn(tables.LEGEND, before["README.md"])
        accuracies = [60.0, 62.5, 65.0]
        run = self.run_folder("run", [record(split=split, accuracy=accuracy) for split, accuracy in enumerate(accuracies)])
        text, _ = self.collect(run)
        (self.root / "results/2026-11/clean.jsonl").write_text(text)
        self.assertEqual(self.make("--check"), 1)
        self.assertEqual(self.make(), 0)
        after = self.pages()
        self.assertIn("| texas | 84.32 ± 3.38° (81.08) | 62.50 ± 2.04 [3] | **86.76", after["README.md"])
        self.assertIn("abc1234", after["clean.md"])
        self.assertIn("training.learning_rate = 0.01", after["settings.md"])
        self.assertTrue(after["README.md"].startswith("before\n") and after["README.md"].endswith("\nafter\n"))
        self.assertEqual((self.make(), self.make("--check")), (0, 0))
        self.assertEqual(after, self.pages(), "idempotent")
        for name in before:
            self.assertTrue(name == "README.md" or before[name].startswith(tables.GENERATED))

    def test_shares_are_refused(self):
        text, _ = self.collect(self.run_folder("run", [record(accuracy=0.6)]))
        (self.root / "results/2026-11/clean.jsonl").write_text(text)
        self.assertNotEqual(self.make(), 0)

    def test_a_readme_without_a_place_is_left_alone(self):
        (self.root / "README.md").write_text("nothing here\n")
        self.assertEqual((self.make(), self.make("--check")), (0, 0))
        self.assertEqual((self.root / "README.md").read_text(), "nothing here\n")


class Readme(unittest.TestCase):
    """By another way than tables.py goes: from the table back to the files."""

    def test_every_number_of_the_table_is_in_the_results(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        if tables.BEGIN not in text:
            self.skipTest("the README has no place for the table yet")
        lines = text.split(tables.BEGIN)[1].split(tables.END)[0].strip().split("\n")
        models = [name.strip() for name in lines[0].split("|")[2:-1]]
        rows = [line for line in lines[2:] if line.startswith("|")]
        self.assertEqual(len(rows), 9)
        for line in rows:
            data, *texts = [cell.strip() for cell in line.split("|")[1:-1]]
            for model, cell in zip(models, texts):
                found = re.fullmatch(r"\**([\d.]+) ± ([\d.]+)(°?)(?: \[(\d+)\])?\**(?: \(([\d.]+)\))?", cell)
                self.assertTrue(found, f"{data}, {model}: {cell}")
                mean, std, carried, _, paper = found.groups()
                known = self.carried(data, model) if carried else self.from_cells(data, model)
                self.assertEqual((mean, std), known, f"{data}, {model}")
                if paper:
                    self.assertIn(paper, self.papers(data, model))

    def carried(self, data, model):
        for path in HERE.glob("*/carried-over.csv"):
            for row in csv.DictReader(open(path, encoding="utf-8", newline="")):
                if (row["table"], row["data"], row["model"], row["figure"]) == ("clean", data, model, "test_accuracy"):
                    return row["mean"], row["std"]

    def from_cells(self, data, model):
        last = {}
        for path in sorted(HERE.glob("*/*.jsonl")):
            head, cells = collect.read_cells(path)
            for cell in cells if head["suite"] == "clean" else []:
                if (cell["data"], cell["model"]) == (data, model) and not cell.get("attack") and not cell.get("variant") and "test" in cell:
                    last[cell["split"], cell["seed"]] = cell["test"]
        accuracies = list(last.values())
        return f"{statistics.fmean(accuracies):.2f}", f"{statistics.pstdev(accuracies):.2f}"

    def papers(self, data, model):
        rows = csv.DictReader(open(HERE / "paper.csv", encoding="utf-8", newline=""))
        return [row["mean"] for row in rows if (row["dataset"], row["model"], row["state"]) == (data, model, "clean")]


class Pages(unittest.TestCase):
    def test_the_pages_are_what_the_results_give(self):
        run = subprocess.run([sys.executable, str(HERE / "tables.py"), "--check"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
