#!/usr/bin/env python3
"""Time and peak memory of inspecting an edge list of ten million edges, with integer and with text node ids.

Usage: benches/large_csv.py [EDGES]      (default: 10000000; run `cargo build --release` first)
"""

import json
import os
import shutil
import sys
import time

LHS = os.path.join(os.path.dirname(__file__), "..", "target", "release", "lhs")
FOLDER = os.path.join(os.path.dirname(__file__), "..", "target", "large_csv")


def run(arguments, output):
    """Runs lhs; returns seconds and peak MiB of that process alone."""
    start = time.perf_counter()
    child = os.posix_spawn(LHS, [LHS, *arguments], os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644),
    ])
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"lhs {' '.join(arguments)} failed")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def with_text_ids(source, target):
    with open(source) as lines, open(target, "w") as out:
        out.write(next(lines))
        for line in lines:
            a, b = line.strip().split(",")
            out.write(f"user_{a:>07},user_{b:>07}\n")


def main():
    edges = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    integers, text = f"{FOLDER}/graph/edges.csv", f"{FOLDER}/text.csv"
    made = ["--nodes", str(edges // 10), "--mean-degree", "20", "--features", "0", "--num-splits", "1"]
    run(["data", "synth", "--quiet", "--out", f"{FOLDER}/graph", *made], os.devnull)
    with_text_ids(integers, text)
    for name, file in [("integer ids", integers), ("text ids", text)]:
        seconds, memory = run(["data", "inspect", file, "--json", "--quiet"], f"{FOLDER}/summary.json")
        with open(f"{FOLDER}/summary.json") as summary:
            found = json.load(summary)
        print(f"{name}: {found['nodes']} nodes, {found['edges']} edges: {seconds:.1f} s, {memory:.0f} MiB")
    shutil.rmtree(FOLDER)


main()
