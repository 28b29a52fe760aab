"""Runs lhs, twin.py and literal.py on graphs, for lhs_twin.sh, and prints what each took beside what lhs took.

Every program is a process of its own, watched from outside: seconds from its start to its end, and the most memory that it had. The twins are
run with and without settings of malloc that keep large buffers, in turns with lhs; the least of each figure counts. PyTorch takes seconds and
memory before it sees any data, so ratios without those are shown, too: lhs whole, the twin less what loading PyTorch took.
"""

import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
THREADS, ROUNDS, LIMIT = (os.environ.get(name, default) for name, default in [("THREADS", "2"), ("ROUNDS", "3"), ("LIMIT", "600")])
EPOCHS = "200"
SETTINGS = {
    "ensemble_size": "1", "structure.rounds": "0", "structure.views": "both", "structure.top_k": "5", "structure.threshold": "0.5",
    "trust": "0", "profile": "true", "given_hops": "2", "latent_hops": "2", "given_layers": "0", "latent_layers": "0", "gentle_layers": "false",
    "training.epochs": EPOCHS, "training.patience": EPOCHS,
}  # fmt: skip
# Large buffers are kept instead of being returned to the system after each step: PyTorch at its fastest.
KEEPING = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "17179869184", "MALLOC_TOP_PAD_": "1073741824"}
FLOORS = {"twin": 2.0, "literal": 20.0}
MEMORY_FLOOR = 3.0
COLUMNS = "table,data,state,model,variant,figure,mean,std,splits,unit,note,source".split(",")


def ours(data):
    sets = [part for key, value in SETTINGS.items() for part in ("--set", f"{key}={value}")]
    options = ["--no-config", "--no-save", "--split", "0", "--threads", THREADS, "--quiet", "--json"]
    return [os.environ["LHS"], "train", data, *options, *sets]


def theirs(script, data):
    return [sys.executable, str(HERE / script), data, "--threads", THREADS, "--epochs", EPOCHS]


def run(command, more=()):
    """Seconds, peak memory in MB and the JSON document of a process; None when it took too long or died."""
    environment = {**os.environ, "OMP_NUM_THREADS": THREADS, "MKL_NUM_THREADS": THREADS, **dict(more)}
    # What does not fit shall say so, and not have the system end somebody else's process.
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (physical, physical))
    said = tempfile.TemporaryFile("w+")
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, env=environment, preexec_fn=limit)
    watchdog = subprocess.Popen(["sh", "-c", f"sleep {LIMIT}; kill -9 {process.pid}"], start_new_session=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    os.killpg(watchdog.pid, 15)
    watchdog.wait()
    if status != 0 and seconds >= float(LIMIT):
        return None, f"no end within {LIMIT} s"
    if status != 0:
        said.seek(0)
        why = said.read().strip()
        print(why, file=sys.stderr)
        return None, "does not fit" if "memory" in why or "allocate" in why else "ended with an error"
    return {"seconds": seconds, "mb": usage.ru_maxrss * 1024 / 1e6, "told": json.loads(output)}, None


def least(runs):
    """The least of each figure."""
    best = {key: min(run[key] for run in runs) for key in ("seconds", "mb")}
    told = min((run["told"] for run in runs), key=lambda told: told.get("total_seconds", 0))
    if "total_seconds" in told:
        # While a process with PyTorch ends it loads more of its libraries; that is not counted.
        best["mb"] = min(run["told"]["peak_mb"] for run in runs)
        best["after_loading"] = told["total_seconds"]
        best["mb_of_data"] = min(run["told"]["peak_mb"] - run["told"]["mb_before_data"] for run in runs)
    return {**best, "told": told, "accuracy": told.get("test_accuracy", told.get("test_accuracy_mean"))}


def measure(graph):
    """Of each program its figures, or why there are none."""
    data = str(Path(os.environ["LHS_DATA"]) / f"{graph}.npz")
    found = {"lhs": [], "twin": []}
    for number in range(int(ROUNDS)):
        for name, command, more in [("lhs", ours(data), {}), ("twin", theirs("twin.py", data), KEEPING if number % 2 == 0 else {})]:
            found[name].append(run(command, more))
    found["literal"] = [run(theirs("literal.py", data))]
    failed = {name: why for name, runs in found.items() for result, why in runs if result is None}
    return {name: failed.get(name) or least([result for result, _ in runs]) for name, runs in found.items()}


def rows_of(graph, figures):
    """Rows for results/."""
    source, state = "experiments/peers/lhs_twin.sh", f"{THREADS} threads"
    row = lambda model, figure, value, unit, note="": ["lhs-twin", graph, state, model, "", figure, value, "", "", unit, note, source]
    for name, found in figures.items():
        if isinstance(found, str):
            yield row(name, "seconds", "", "s", found)
            continue
        yield row(name, "seconds", f"{found['seconds']:.2f}", "s")
        yield row(name, "peak memory", f"{found['mb']:.0f}", "MB")
        yield row(name, "test accuracy", f"{found['accuracy']:.2f}", "%", "split 0")
        if name != "lhs":
            yield row(name, "seconds after loading PyTorch", f"{found['after_loading']:.2f}", "s")
            yield row(name, "memory beside PyTorch", f"{found['mb_of_data']:.0f}", "MB")
            for part, seconds in found["told"]["seconds"].items():
                yield row(name, f"seconds of {part}", f"{seconds:.2f}", "s")


def main():
    out = os.environ.get("CSV")
    if out and not Path(out).exists():
        Path(out).write_text(",".join(COLUMNS) + "\n")
    head = ["graph", "lhs", "", "accuracy", "twin", "", "accuracy", "faster", "memory", "literal", "", "accuracy", "faster", "memory"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    short = []
    for graph in sys.argv[1:]:
        figures = measure(graph)
        mine = figures["lhs"]
        if isinstance(mine, str):
            sys.exit(f"lhs itself on {graph}: {mine}")
        cells = [graph, f"{mine['seconds']:.2f} s", f"{mine['mb']:.0f} MB", f"{mine['accuracy']:.1f}"]
        for name, floor in FLOORS.items():
            found = figures[name]
            if isinstance(found, str):
                cells += [found, "", "", "", ""]
                continue
            faster, leaner = found["seconds"] / mine["seconds"], found["mb"] / mine["mb"]
            without = found["after_loading"] / mine["seconds"], found["mb_of_data"] / mine["mb"]
            cells += [f"{found['seconds']:.2f} s", f"{found['mb']:.0f} MB", f"{found['accuracy']:.1f}"]
            cells += [f"{faster:.1f} ({without[0]:.1f})", f"{leaner:.1f} ({without[1]:.1f})"]
            short += [f"{graph}: {faster:.1f} times faster than the {name}, floor {floor}"] if faster < floor else []
            short += [f"{graph}: the {name} needs {leaner:.1f} times the memory, floor {MEMORY_FLOOR}"] if leaner < MEMORY_FLOOR else []
        print("| " + " | ".join(cells) + " |", flush=True)
        if out:
            with open(out, "a", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows_of(graph, figures))
    print("\nfaster and memory: ratios of whole processes; in brackets without what loading PyTorch takes")
    print("\n".join(["", "BELOW a floor:", *short]) if short else "all floors hold")
    sys.exit(bool(short))


main()
