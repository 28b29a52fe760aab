"""Times epochs of GCN, GAT and GraphSAGE in PyTorch Geometric, the same work as `cargo bench --bench epochs`, and prints one JSON document.

Usage: pyg.py DATA_FOLDER THREADS [--compile]

An epoch is forward, backward and Adam on Cora, Squirrel and PubMed, without dropout and with 0.5: two layers, hidden 64 (GAT: 8 heads of 8), input rows of
sum 1. Every model is timed with the edges given in each of the ways that PyTorch Geometric has without further packages (pairs of nodes; its
EdgeIndex, sorted and with its transpose in cache; CSR of PyTorch), --compile adds pairs of nodes through torch.compile; the fastest counts.
"""

import itertools
import json
import statistics
import sys
import time
import warnings

warnings.filterwarnings("ignore")

import numpy as np
import torch
import torch.nn.functional as F
import torch_geometric
from torch_geometric import EdgeIndex
from torch_geometric.nn import GATConv, GCNConv, SAGEConv
from torch_geometric.utils import to_torch_csr_tensor

GRAPHS = ["cora", "squirrel", "pubmed"]
# At most so many epochs and seconds for each way.
EPOCHS, BUDGET = 100, 1.5
RATES = {"gcn": 0.01, "gat": 0.005, "graphsage": 0.01}


class Net(torch.nn.Module):
    def __init__(self, model, columns, classes, dropout):
        super().__init__()
        if model == "gcn":
            self.first, self.second = GCNConv(columns, 64, cached=True), GCNConv(64, classes, cached=True)
        elif model == "gat":
            self.first, self.second = GATConv(columns, 8, heads=8, dropout=dropout), GATConv(64, classes, dropout=dropout)
        else:
            self.first, self.second = SAGEConv(columns, 64), SAGEConv(64, classes)
        self.drop = (lambda x: F.dropout(x, dropout)) if dropout else (lambda x: x)
        self.activation = F.elu if model == "gat" else F.relu

    def forward(self, x, edges):
        x = self.first(self.drop(x), edges)
        return self.second(self.drop(self.activation(x)), edges)


def load(path):
    with np.load(path) as data:
        x, y, edges = data["node_features"], data["node_labels"], data["edges"]
        train = np.flatnonzero(data["train_masks"][0])
    x = x / np.maximum(np.abs(x).sum(1, keepdims=True), 1e-12)
    edges = np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0)
    edges = torch.tensor(edges[edges[:, 0] != edges[:, 1]].T).contiguous()
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y), edges, torch.tensor(train)


def ways(edges, nodes, compiled):
    yield "pairs", edges, lambda net: net
    indexed = EdgeIndex(edges, sparse_size=(nodes, nodes), is_undirected=True).sort_by("col")[0]
    indexed.fill_cache_()
    yield "EdgeIndex", indexed, lambda net: net
    yield "CSR", to_torch_csr_tensor(edges, size=(nodes, nodes)), lambda net: net
    if compiled:
        yield "compiled", edges, lambda net: torch.compile(net, dynamic=False)


def epoch_milliseconds(model, dropout, graph, edges, wrapped):
    x, labels, _, train = graph
    torch.manual_seed(0)
    net = wrapped(Net(model, x.shape[1], int(labels.max()) + 1, dropout))
    adam = torch.optim.Adam(net.parameters(), lr=RATES[model], weight_decay=5e-4, fused=True)
    targets, times = labels[train], []
    begun = time.perf_counter()
    # A way that is slow shows that in a few epochs.
    while len(times) < 5 or (len(times) < EPOCHS and time.perf_counter() - begun < BUDGET):
        start = time.perf_counter()
        loss = F.cross_entropy(net(x, edges)[train], targets)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times[max(1, len(times) // 5) :]), loss.item()


def main():
    folder, threads = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    result = {"what": f"PyTorch Geometric {torch_geometric.__version__}", "threads": threads}
    for name in GRAPHS:
        graph = load(f"{folder}/{name}.npz")
        for model, dropout in itertools.product(RATES, (0.0, 0.5)):
            tried = {}
            for way, edges, wrapped in ways(graph[2], len(graph[1]), "--compile" in sys.argv):
                tried[way] = epoch_milliseconds(model, dropout, graph, edges, wrapped)
            fastest = min(tried, key=tried.get)
            all_ways = {way: milliseconds for way, (milliseconds, _) in tried.items()}
            told = {"milliseconds": tried[fastest][0], "final_loss": tried[fastest][1], "way": fastest, "ways": all_ways}
            result[f"{model}_{name}" + "_dropout" * (dropout > 0)] = told
    print(json.dumps(result))


main()
