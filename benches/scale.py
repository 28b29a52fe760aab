#!/usr/bin/env python3
"""How time and memory of `lhs train` grow with the nodes.

Makes graphs of a fixed mean degree, trains on each in a process of its own with the same settings (batches, inverted lists and a
fixed number of epochs at every size, so that no size does more than another), fits the exponents of time and of memory beyond the data
on a logarithmic scale, and draws both. Prints one JSON line for each size, then a Markdown table.

  benches/scale.py [--nodes 10000,30000,100000,300000,1000000] [--lhs target/release/lhs] [--threads 2] [--epochs 20]
                   [--degree 20] [--features 128] [--set key=value …] [--out FOLDER] [--floors]

--out keeps scale.jsonl and scale.svg; --csv adds rows for results/; --floors exits 1 where the exponent of time is above 1.15 or that of memory above 1.05.
For structure alone at sizes where learning is not asked for: --epochs 1. Only Python's standard library is needed."""
import argparse, csv, json, math, os, pathlib, subprocess, sys, tempfile, time


def run(command):
    """Seconds and peak memory in bytes of a process."""
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))} failed")
    return time.monotonic() - begun, usage.ru_maxrss * 1024, out


def slope(xs, ys):
    """Of the line through logarithms."""
    xs, ys = [math.log(x) for x in xs], [math.log(y) for y in ys]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def figure(rows, path):
    """Seconds and gigabytes against nodes, both axes logarithmic."""
    width, height, left, top = 640, 360, 60, 20
    series = [("seconds", "#1f77b4", [r["seconds"] for r in rows]), ("peak GB", "#d62728", [r["peak_gb"] for r in rows])]
    xs = [math.log10(r["nodes"]) for r in rows]
    every = [math.log10(v) for _, _, values in series for v in values]
    x0, x1, y0, y1 = min(xs), max(xs), math.floor(min(every)), math.ceil(max(every))
    at = lambda x, y: (left + (x - x0) / (x1 - x0 or 1) * (width - left - 110), top + (y1 - y) / (y1 - y0 or 1) * (height - top - 40))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">']
    parts.append(f'<rect width="{width}" height="{height}" fill="white"/>')
    for y in range(y0, y1 + 1):
        (ax, ay), (bx, _) = at(x0, y), at(x1, y)
        parts.append(f'<line x1="{ax:.1f}" y1="{ay:.1f}" x2="{bx:.1f}" y2="{ay:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 8}" y="{ay + 4:.1f}" text-anchor="end">{10 ** y:g}</text>')
    for row, x in zip(rows, xs):
        ax, ay = at(x, y0)
        parts.append(f'<text x="{ax:.1f}" y="{ay + 18:.1f}" text-anchor="middle">{row["nodes"]:,}</text>')
    for name, colour, values in series:
        points = [at(x, math.log10(v)) for x, v in zip(xs, values)]
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        parts.append(f'<text x="{points[-1][0] + 10:.1f}" y="{points[-1][1] + 4:.1f}" fill="{colour}">{name}</text>')
    parts.append(f'<text x="{left}" y="{height - 4}">nodes</text></svg>')
    path.write_text("\n".join(parts))


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--nodes", default="10000,30000,100000,300000,1000000")
parser.add_argument("--lhs", default="target/release/lhs")
parser.add_argument("--threads", default="2")
parser.add_argument("--epochs", default="20")
parser.add_argument("--degree", default="20")
parser.add_argument("--features", default="128")
parser.add_argument("--set", action="append", default=[])
parser.add_argument("--out", type=pathlib.Path)
parser.add_argument("--floors", action="store_true")
parser.add_argument("--csv", type=pathlib.Path, help="add rows for results/, under the note given by --note")
parser.add_argument("--note", default="")
args = parser.parse_args()
settings = ["batch=8192", "structure.search=ivf", f"training.epochs={args.epochs}", f"training.patience={args.epochs}", *args.set]
flags = [flag for setting in settings for flag in ("--set", setting)]
rows = []
with tempfile.TemporaryDirectory() as folder:
    for nodes in map(int, args.nodes.split(",")):
        graph = os.path.join(folder, f"synth-{nodes}.npz")
        synth = ["data", "synth", "--nodes", str(nodes), "--mean-degree", args.degree, "--features", args.features, "--num-splits", "1"]
        if subprocess.run([args.lhs, *synth, "--out", graph, "--quiet"], stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit("could not make the graph")
        common = [args.lhs, "train", graph, "--split", "0", "--no-save", "--quiet", "--json", "--threads", args.threads, *flags]
        plan = json.loads(run([args.lhs, "train", graph, "--split", "0", "--plan", "--quiet", "--json", *flags])[2])
        seconds, peak, out = run(common)
        told = json.loads(out)
        row = {"nodes": nodes, "edges": round(nodes * float(args.degree) / 2), "seconds": round(seconds, 2), "peak_gb": round(peak / 1e9, 3),
               "kb_per_node_beyond_data": round((peak - plan["data"]) / nodes / 1000, 3), "planned_gb": round(plan["total"] / 1e9, 3),
               "test_accuracy": round(told["test_accuracy_mean"], 2), "threads": int(args.threads), "settings": settings}
        rows.append(row)
        print(json.dumps(row), flush=True)
        os.remove(graph)
print("\n| nodes | edges | seconds | peak GB | planned GB | kB a node beyond the data | test accuracy |\n|---|---|---|---|---|---|---|")
for r in rows:
    print(f"| {r['nodes']:,} | {r['edges']:,} | {r['seconds']:.1f} | {r['peak_gb']:.2f} | {r['planned_gb']:.2f} | {r['kb_per_node_beyond_data']:.2f} | {r['test_accuracy']:.2f} |")
fits = {}
if len(rows) > 1:
    fits = {"time": slope([r["nodes"] for r in rows], [r["seconds"] for r in rows]), "memory": slope([r["nodes"] for r in rows], [r["peak_gb"] for r in rows])}
    print(f"\nexponent of time {fits['time']:.3f}, of memory {fits['memory']:.3f}")
if args.out:
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "scale.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if len(rows) > 1:
        figure(rows, args.out / "scale.svg")
if args.csv:
    new = not args.csv.exists()
    with args.csv.open("a", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        if new:
            out.writerow("table,data,state,model,variant,figure,mean,std,splits,unit,note,source".split(","))
        put = lambda data, figure, value, unit: out.writerow(["scale", data, f"{args.threads} threads", "lhs", "", figure, value, "", "", unit, args.note, "benches/scale.py"])
        for r in rows:
            data = f"{r['nodes']:,}".replace(",", "\u202f")
            for figure_name, key, unit in [("seconds", "seconds", "s"), ("peak memory", "peak_gb", "GB"), ("planned memory", "planned_gb", "GB"),
                                           ("memory beyond the data", "kb_per_node_beyond_data", "kB"), ("test accuracy", "test_accuracy", "%")]:
                put(data, figure_name, f"{r[key]:.2f}", unit)
        for what, exponent in fits.items():
            put("all sizes", f"exponent of {what}", f"{exponent:.3f}", "")
sys.exit(args.floors and bool(fits) and (fits["time"] > 1.15 or fits["memory"] > 1.05))
