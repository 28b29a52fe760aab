"""The products of `cargo bench --bench kernels` in PyTorch, for kernels.sh: prints one JSON document.  Usage: kernels.py THREADS"""

import json
import sys
import time
import warnings

import torch

REPEATS = 7
NODES, DEGREE, COLUMNS, WIDE = 1_000_000, 20, 64, 128


def seconds(work):
    """The least of several runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def dense(rows):
    a, b, c = torch.rand(rows, WIDE), torch.rand(WIDE, COLUMNS), torch.rand(rows, COLUMNS)
    out, small = torch.empty(rows, COLUMNS), torch.empty(WIDE, COLUMNS)  # as with us, whose buffers are used again
    gflops = lambda work: 2 * rows * WIDE * COLUMNS / seconds(work) / 1e9
    product, transposed = gflops(lambda: torch.mm(a, b, out=out)), gflops(lambda: torch.mm(a.T, c, out=small))
    return {"rows": rows, "matmul": product, "matmul_tn": transposed, "transposed_times": transposed}


def sparse():
    bounds = torch.arange(NODES + 1, dtype=torch.int32) * DEGREE
    columns = torch.randint(NODES, (NODES, DEGREE), dtype=torch.int32).sort(1).values.flatten()
    matrix = torch.sparse_csr_tensor(bounds, columns, torch.full((NODES * DEGREE,), 1 / DEGREE), (NODES, NODES))
    x = torch.rand(NODES, COLUMNS)
    return 1e3 * seconds(lambda: matrix @ x)


def main():
    torch.set_num_threads(int(sys.argv[1]))
    warnings.filterwarnings("ignore")
    gemm = [dense(rows) for rows in (10_000, 100_000, 1_000_000)]
    print(json.dumps({"what": f"PyTorch {torch.__version__}", "gemm": gemm, "spmm": {"milliseconds": sparse()}}))


main()
