"""Times the same work as `cargo bench --bench epochs` in PyTorch and prints one JSON document.

Usage: pytorch.py DATA_FOLDER THREADS

- a GCN epoch (forward, backward, Adam; hidden 64, sparse input) on Cora and Squirrel, without dropout and with
  0.5 on inputs and hidden units (its random numbers cost PyTorch more than the rest), with a hand-written CSR product: PyTorch's own sparse autograd is far slower;
- one full InfoNCE step (forward and backward) over two 5,201 x 64 views, eager and compiled.
"""

import json
import statistics
import sys
import time
import warnings

import numpy as np
import torch
import torch.nn.functional as F

from sparse import Csr


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


def gcn_epoch_milliseconds(path, epochs, dropout):
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
        values = F.dropout(features.values, dropout) if dropout else features.values
        hidden = F.relu(adjacency.matmul(features.matmul(w1, values)) + b1)
        if dropout:
            hidden = F.dropout(hidden, dropout)
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
    return {"milliseconds": 1e3 * statistics.median(times[epochs // 5 :]), "final_loss": loss.item()}


def info_nce(first, second, temperature):
    """Cosines are bounded, so no maximum has to be found and the diagonal is known: the fastest form we found."""
    u, v = F.normalize(first), F.normalize(second)
    stacked = torch.cat([u, v])
    exponentials = torch.exp((stacked @ stacked.T - 1) / temperature)
    log_sums = torch.log(exponentials.sum(1) - 1) + 1 / temperature
    return log_sums.mean() - (u * v).sum(1).mean() / temperature


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
    return {"milliseconds": 1e3 * statistics.median(times[2:]), "loss": loss.item()}


def main():
    folder, threads = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)  # weights that fade away would slow it down tenfold on Squirrel
    warnings.filterwarnings("ignore")
    result = {
        "what": f"PyTorch {torch.__version__}",
        "threads": threads,
        "gcn_cora": gcn_epoch_milliseconds(f"{folder}/cora.npz", 300, 0.0),
        "gcn_cora_dropout": gcn_epoch_milliseconds(f"{folder}/cora.npz", 300, 0.5),
        "gcn_squirrel": gcn_epoch_milliseconds(f"{folder}/squirrel.npz", 100, 0.0),
        "gcn_squirrel_dropout": gcn_epoch_milliseconds(f"{folder}/squirrel.npz", 100, 0.5),
        "info_nce": info_nce_milliseconds(False, 6),
        "info_nce_compiled": info_nce_milliseconds(True, 8),
    }
    print(json.dumps(result))


main()
