"""Times the same work as `cargo bench --bench epochs` in PyTorch and prints one JSON document.

Usage: pytorch.py DATA_FOLDER THREADS

- a GCN epoch (forward, backward, Adam; hidden 64, dropout 0.5 on inputs and hidden units, sparse input)
  on Cora and Squirrel, with a hand-written CSR product: PyTorch's own sparse autograd is far slower;
- one full InfoNCE step (forward and backward) over two 5,201 x 64 views, eager and compiled.
"""

import json
import statistics
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F


class SparseProduct(torch.autograd.Function):
    """S @ x with S in CSR, and its transpose in CSR for the way back."""

    @staticmethod
    def forward(ctx, values, x, matrix):
        ctx.matrix, ctx.values = matrix, values
        return matrix.forward_csr(values) @ x

    @staticmethod
    def backward(ctx, gradient):
        return None, ctx.matrix.backward_csr(ctx.values) @ gradient, None


class Csr:
    def __init__(self, rows, cols, values, shape):
        order = np.lexsort((cols, rows))
        rows, cols, values = rows[order], cols[order], values[order]
        back = np.lexsort((rows, cols))
        self.shape = shape
        self.values = torch.tensor(values, dtype=torch.float32)
        self.back = torch.tensor(back)
        pointers = lambda index, count: torch.tensor(
            np.concatenate([[0], np.cumsum(np.bincount(index, minlength=count))])
        )
        self.rows, self.cols = pointers(rows, shape[0]), torch.tensor(cols)
        self.t_rows, self.t_cols = pointers(cols[back], shape[1]), torch.tensor(rows[back])
        self.fixed = None

    def forward_csr(self, values):
        return torch.sparse_csr_tensor(self.rows, self.cols, values, self.shape, check_invariants=False)

    def backward_csr(self, values):
        if values is self.values:
            if self.fixed is None:
                self.fixed = values[self.back]
            values = self.fixed
        else:
            values = values[self.back]
        shape = self.shape[::-1]
        return torch.sparse_csr_tensor(self.t_rows, self.t_cols, values, shape, check_invariants=False)

    def matmul(self, x, values=None):
        return SparseProduct.apply(self.values if values is None else values, x, self)


def load(path):
    with np.load(path) as data:
        x, y, edges = data["node_features"], data["node_labels"], data["edges"]
        train = np.flatnonzero(data["train_masks"][0])
    n = len(y)
    x = x / np.maximum(np.abs(x).sum(1, keepdims=True), 1e-12)
    rows, cols = np.nonzero(x)
    features = Csr(rows, cols, x[rows, cols], x.shape)
    a = np.concatenate([edges, edges[:, ::-1], np.stack([np.arange(n)] * 2, 1)])
    a = np.unique(a, axis=0)
    degree = np.bincount(a[:, 0], minlength=n).astype(np.float64)
    weights = 1 / np.sqrt(degree[a[:, 0]] * degree[a[:, 1]])
    return features, Csr(a[:, 0], a[:, 1], weights, (n, n)), torch.tensor(y), torch.tensor(train)


def gcn_epoch_milliseconds(path, epochs):
    features, adjacency, labels, train = load(path)
    classes = int(labels.max()) + 1
    torch.manual_seed(0)
    w1 = torch.nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(features.shape[1], 64)))
    w2 = torch.nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(64, classes)))
    b1, b2 = torch.nn.Parameter(torch.zeros(64)), torch.nn.Parameter(torch.zeros(classes))
    groups = [{"params": [w1, w2], "weight_decay": 5e-4}, {"params": [b1, b2], "weight_decay": 0.0}]
    adam = torch.optim.Adam(groups, lr=0.01, fused=True)
    targets = labels[train]

    def epoch():
        values = F.dropout(features.values, 0.5)
        hidden = adjacency.matmul(features.matmul(w1, values)) + b1
        hidden = F.dropout(F.relu(hidden), 0.5)
        scores = adjacency.matmul(hidden @ w2) + b2
        loss = F.cross_entropy(scores[train], targets)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()
        return loss

    times = []
    for _ in range(epochs):
        start = time.perf_counter()
        loss = epoch()
        times.append(time.perf_counter() - start)
    return {"milliseconds": 1e3 * statistics.median(times[epochs // 5 :]), "final_loss": float(loss)}


def info_nce(first, second, temperature):
    u = torch.cat([F.normalize(first), F.normalize(second)])
    s = u @ u.T / temperature
    s = s.masked_fill(torch.eye(len(u), dtype=torch.bool), float("-inf"))
    n = len(first)
    positive = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(s, positive)


def info_nce_milliseconds(compiled, repeats):
    function = torch.compile(info_nce, dynamic=False) if compiled else info_nce
    rows = np.arange(5201 * 64, dtype=np.uint32)

    def view(seed):
        values = ((rows + np.uint32(seed)) * np.uint32(2654435761) >> np.uint32(8)) / 2**24 - 0.5
        return torch.tensor(values.reshape(5201, 64), dtype=torch.float32, requires_grad=True)

    first, second = view(1), view(7)
    times = []
    for _ in range(repeats):
        first.grad = second.grad = None
        start = time.perf_counter()
        loss = function(first, second, 0.5)
        loss.backward()
        times.append(time.perf_counter() - start)
    return {"milliseconds": 1e3 * statistics.median(times[2:]), "loss": float(loss)}


def main():
    folder, threads = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(threads)
    result = {
        "what": f"PyTorch {torch.__version__}",
        "threads": threads,
        "gcn_cora": gcn_epoch_milliseconds(f"{folder}/cora.npz", 200),
        "gcn_squirrel": gcn_epoch_milliseconds(f"{folder}/squirrel.npz", 100),
        "info_nce": info_nce_milliseconds(False, 6),
        "info_nce_compiled": info_nce_milliseconds(True, 8),
    }
    print(json.dumps(result))


main()
