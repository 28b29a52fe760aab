#!/usr/bin/env bash
# How near our kernels come to the machine and to PyTorch's: CSR times dense as a share of the memory bandwidth (a million nodes, ten million
# edges, 64 columns), dense products as a share of what PyTorch's MKL reaches. In turns, three times each, the best of each.
# Prints a Markdown table, with CSV=FILE adds rows for results/ there, and exits 1 below 60 % of the bandwidth or 85 % of MKL.
# Usage: experiments/peers/kernels.sh [THREADS]      (default: 2)
set -euo pipefail
cd "$(dirname "$0")/../.."
threads=${1:-2}
peers=${LHS_PEERS:-target/peers}
"$peers/bin/python" -c 'import torch' 2>/dev/null || experiments/peers/install.sh "$peers"
# Large buffers are kept instead of being returned to the system after each step: PyTorch at its best.
export MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=17179869184 MALLOC_TOP_PAD_=1073741824
cargo bench --quiet --no-run -p lhs --bench kernels
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for round in 1 2 3; do
  cargo bench --quiet -p lhs --bench kernels -- --threads "$threads" > "$work/lhs-$round.json"
  "$peers/bin/python" experiments/peers/kernels.py "$threads" > "$work/pytorch-$round.json"
done
"$peers/bin/python" - "$work" "$threads" <<'PYTHON'
import csv, json, os, pathlib, sys
folder, threads = pathlib.Path(sys.argv[1]), sys.argv[2]
ours, theirs = ([json.loads(path.read_text()) for path in sorted(folder.glob(f"{who}-*.json"))] for who in ("lhs", "pytorch"))
bandwidth = max(max(run["bandwidth"].values()) for run in ours)
spmm = min((run["spmm"] for run in ours), key=lambda spmm: spmm["milliseconds"])
rows, short = [], []
def row(what, figure, value, unit):
    rows.append(["kernels", what, f"{threads} threads", "lhs", "", figure, f"{value:.1f}", "", "", unit, "", "experiments/peers/kernels.sh"])
    print(f"| {what} | {figure} | {value:.1f} {unit} |")
print("| what | figure | |\n|---|---|---|")
row("memory", "bandwidth of a plain loop", bandwidth, "GB/s")
graph = "CSR x dense, 1,000,000 nodes, 10,000,000 edges, 64 columns"
row(graph, "time", spmm["milliseconds"], "ms")
row(graph, "PyTorch's time", min(run["spmm"]["milliseconds"] for run in theirs), "ms")
for way in ("gathered", "compulsory"):
    row(graph, f"traffic, {way}", spmm[way], "GB/s")
    row(graph, f"share of the bandwidth, {way}", 100 * spmm[way] / bandwidth, "%")
if spmm["gathered"] < 0.6 * bandwidth:
    short.append("CSR x dense, floor 60 %")
for place, size in enumerate(ours[0]["gemm"]):
    for name, said in [("matmul", "N x 128 by 128 x 64"), ("matmul_tn", "128 x N by N x 64"), ("transposed_times", "128 x N by N x 64, summed in f64")]:
        best = lambda runs: max(run["gemm"][place][name] for run in runs)
        what, share = f"{said}, N = {size['rows']:,}", 100 * best(ours) / best(theirs)
        row(what, "GFLOP/s", best(ours), "GFLOP/s")
        row(what, "share of MKL", share, "%")
        short += [f"{what}, floor 85 %"] if share < 85 else []
if out := os.environ.get("CSV"):
    new = not os.path.exists(out)
    with open(out, "a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow("table,data,state,model,variant,figure,mean,std,splits,unit,note,source".split(","))
        writer.writerows(rows)
print("\n" + ("\n".join(["BELOW a floor:", *short]) if short else "all floors hold"))
sys.exit(bool(short))
PYTHON
