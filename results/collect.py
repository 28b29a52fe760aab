#!/usr/bin/env python3
"""Turns result folders of `lhs bench` into one small file of JSON lines: a header, then a line per cell.

Run it on the machine that measured: the header names its CPU. Of several records of a cell the last successful one counts;
a cell that never succeeded is kept with its error. Curves and histograms stay behind.

Usage: results/collect.py RUN… --out results/YYYY-MM/SUITE.jsonl      (RUN: what `lhs bench --out RUN` made)
"""

import argparse
import datetime
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

LARGE = 300_000  # bytes; beyond, the names of columns and what cells have in common move into the header
DIGITS = 16  # of a SHA-256 that a cell shows


def main():
    options = arguments()
    hashes = json.loads(options.data_hashes.read_text()) if options.data_hashes else {}
    manifests, records = [], []
    for run in options.runs:
        manifest, found = read_run(run, hashes)
        manifests.append(manifest)
        records += found
    names = sorted({manifest["name"] for manifest in manifests})
    if len(names) > 1 and not options.suite:
        sys.exit(f"these runs belong to different suites ({', '.join(names)}): give one, or name the table with --suite")
    records = sorted(best(records), key=place)
    head = header(options, manifests, records)
    text = lines(head, [cell(record) for record in records])
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(text)
    failed = sum("error" in record and not record.get("result") for record in records)
    print(f"{options.out}: {len(records)} cells, {failed} of them failed, {len(text.encode())} bytes")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="a results folder; of several, later ones win")
    parser.add_argument("--out", required=True, type=Path, help="the file to write")
    parser.add_argument("--suite", help="the suite that it counts for, if the folder's name of it is another")
    parser.add_argument("--command", help="the command that measured (default: lhs bench SUITE)")
    parser.add_argument("--commit", help="the commit that was measured (default: that of this checkout)")
    parser.add_argument("--date", help="the day (default: that of the last change of the cells)")
    parser.add_argument("--machine", help="the machine (default: this one's CPU and number of cores)")
    parser.add_argument("--data-hashes", type=Path, help="JSON {dataset: SHA-256}, for records that do not hold it")
    return parser.parse_args()


def read_run(folder, hashes):
    """The manifest of a folder and its records, each with hashes and version, in the order in which they were written."""
    new, old = folder / "manifest.json", folder / "bench.json"
    path = new if new.exists() else old
    if not path.exists():
        sys.exit(f"{folder}: neither manifest.json nor bench.json; give a folder that `lhs bench --out` made")
    manifest = json.loads(path.read_text())
    manifest["lhs_version"] = manifest.get("lhs_version", manifest.get("version"))
    listed = manifest.get("data") or []
    manifest["hashes"] = {**hashes, **{data["name"]: data["sha256"] for data in listed if data.get("sha256")}}
    cells = folder / "cells.jsonl"
    manifest["changed"] = cells.stat().st_mtime if cells.exists() else path.stat().st_mtime
    whole = cells.read_bytes().split(b"\n")[:-1] if cells.exists() else []  # a torn last line has no end
    records = [json.loads(line) for line in whole if line.strip()]
    for record in records:
        record["lhs_version"] = record.get("lhs_version") or manifest["lhs_version"]
        record["data_sha256"] = record.get("data_sha256") or manifest["hashes"].get(record["dataset"])
        record["settings"] = record.get("settings") or {}
        record["settings_sha256"] = record.get("settings_sha256") or hash_of(record["settings"])
    return manifest, records


def hash_of(settings):
    return hashlib.sha256(json.dumps(settings, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def identity(record):
    attack = record.get("attack")
    attack = (attack["name"], attack["rate"], attack["poisoning"], attack["repeat"]) if attack else None
    return record["dataset"], record["model"], record.get("variant"), attack, record["split"], record["seed"], record.get("inductive", False)


def place(record):
    """Dataset, model, variant, state, split, seed, repeat; what is not there comes first."""
    dataset, model, variant, attack, split, seed, inductive = identity(record)
    name, rate, poisoning, repeat = attack or ("", 0, False, 0)
    return dataset, model, variant or "", name, rate, poisoning, inductive, split, seed, repeat


def best(records):
    """Of each cell the last record with a result, or else the last one."""
    found = {}
    for record in records:
        known = found.get(identity(record))
        if record.get("result") or not (known and known.get("result")):
            found[identity(record)] = record
    return list(found.values())


def rounded(value, decimals):
    value = round(value, decimals) if value is not None else None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def cell(record):
    """A record without what only a report needs. Accuracies are in percent."""
    line = {"data": record["dataset"], "model": record["model"]}
    if record.get("variant"):
        line["variant"] = record["variant"]
    line |= {"attack": record.get("attack"), "split": record["split"], "seed": record["seed"]}
    if record.get("inductive"):
        line["inductive"] = True
    line["data_sha256"] = (record["data_sha256"] or "")[:DIGITS] or None
    line["settings_sha256"] = record["settings_sha256"][:DIGITS]
    line["version"] = record["lhs_version"]
    result = record.get("result")
    if not result:
        return line | {"error": record.get("error") or "no result"}
    for short, long in [("test", "test_accuracy"), ("val", "val_accuracy"), ("train", "train_accuracy"), ("f1", "test_macro_f1")]:
        if result.get(long) is not None:
            line[short] = rounded(result[long], 6)
    line["seconds"] = rounded(result.get("train_seconds"), 3)
    if result.get("epochs") is not None:
        line["epochs"] = result["epochs"]
    if result.get("peak_memory_bytes"):
        line["peak_mb"] = rounded(result["peak_memory_bytes"] / 1e6, 1)
    if result.get("attack"):
        kept = ["edges_added", "edges_removed", "feature_rows_changed", "test_nodes", "heterophily_before", "heterophily_after", "seconds"]
        line["crafted"] = {key: rounded(result["attack"][key], 6) for key in kept if result["attack"].get(key)}
    if (result.get("clusters") or {}).get("test"):
        scores = result["clusters"]["test"].items()
        line["clusters"] = {key: rounded(value, 6) for key, value in scores if isinstance(value, (int, float))}
    if result.get("heterophily"):
        seen = result["heterophily"]
        line["heterophily"] = [[h["graph"], h["part"], rounded(h.get("mean"), 6), rounded(h.get("mean_shift"), 6)] for h in seen]
    return line


def header(options, manifests, records):
    suite = options.suite or manifests[-1]["name"]
    described = manifests[-1].get("suite") or {}
    settings = {}
    for record in records:
        settings.setdefault(record["model"], {})[record["settings_sha256"][:DIGITS]] = record["settings"]
    changed = datetime.datetime.fromtimestamp(max(manifest["changed"] for manifest in manifests), datetime.timezone.utc)
    data = {record["dataset"]: record["data_sha256"] for record in records}
    head = {
        "suite": suite,
        "title": described.get("title"),
        "paper": described.get("paper"),
        "command": options.command or f"lhs bench {manifests[-1]['name']}",
        "machine": options.machine or machine(),
        "lhs_version": manifests[-1]["lhs_version"],
        "commit": options.commit or commit(),
        "date": options.date or changed.date().isoformat(),
        "cells": len(records),
        "data": data,
        "settings": settings,
    }
    return {key: value for key, value in head.items() if value is not None}


def machine():
    try:
        names = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    except OSError:
        names = []
    return f"{names[0] if names else 'unknown CPU'}, {os.cpu_count()} cores"


def commit():
    try:
        git = ["git", "-C", str(Path(__file__).resolve().parent), "rev-parse", "--short", "HEAD"]
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def lines(head, cells):
    """One compact line each. If that is much, cells become lists, and the header names their columns once, and what all share."""
    text = as_lines([head, *cells])
    if len(text.encode()) <= LARGE:
        return text
    flat = [dict(flattened(c)) for c in cells]
    columns = list(dict.fromkeys(key for c in flat for key in c))
    same = {key: flat[0][key] for key in columns if all(c.get(key) == flat[0].get(key) for c in flat)}
    columns = [key for key in columns if key not in same]
    return as_lines([{**head, "every_cell": same, "columns": columns}, *([c.get(key) for key in columns] for c in flat)])


def flattened(cell, before=""):
    for key, value in cell.items():
        if isinstance(value, dict):
            yield from flattened(value, f"{before}{key}.")
        elif value is not None:
            yield before + key, value


def read_cells(path):
    """The header and the cells of a file that this script wrote, each cell whole."""
    with open(path, encoding="utf-8") as file:
        head, *cells = map(json.loads, file)
    if "columns" not in head:
        return head, cells
    return head, [whole({**head["every_cell"], **dict(zip(head["columns"], cell))}) for cell in cells]


def whole(flat):
    cell = {"attack": None, "data_sha256": None}
    for key, value in flat.items():
        *folders, name = key.split(".")
        if value is not None:
            inner = cell
            for folder in folders:
                inner[folder] = inner.get(folder) or {}
                inner = inner[folder]
            inner[name] = value
    return cell


def as_lines(objects):
    return "".join(json.dumps(o, separators=(",", ":"), ensure_ascii=False) + "\n" for o in objects)


if __name__ == "__main__":
    main()
