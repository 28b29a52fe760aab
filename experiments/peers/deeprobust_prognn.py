"""Times DeepRobust's Pro-GNN on one thread: seconds per epoch (one step of the graph, two of the network) and peak memory
in KiB, then the accuracy at validation and test nodes after these epochs.

Usage: deeprobust_prognn.py GRAPH.npz EPOCHS
"""
import argparse
import contextlib
import io
import resource
import sys
import time
import types
import warnings

import numpy as np
import scipy.sparse as sp
import torch


def only(name):
    """A package whose own __init__, which imports all that DeepRobust can do, is left out."""
    package = types.ModuleType(name)
    parent, _, last = name.rpartition(".")
    package.__path__ = [f"{folder}/{last}" for folder in sys.modules[parent].__path__]
    sys.modules[name] = package
    setattr(sys.modules[parent], last, package)
    return package


import deeprobust  # noqa: E402

only("deeprobust.graph")
only("deeprobust.graph.defense")
from deeprobust.graph.defense.gcn import GCN  # noqa: E402
from deeprobust.graph.defense.prognn import ProGNN  # noqa: E402

warnings.simplefilter("ignore")
torch.set_num_threads(1)
torch.manual_seed(0)
data = np.load(sys.argv[1])
epochs = int(sys.argv[2])
edges, labels = data["edges"], torch.LongTensor(data["node_labels"])
nodes = len(labels)
ones = np.ones(len(edges), dtype=np.float32)
adjacency = sp.csr_matrix((ones, (edges[:, 0], edges[:, 1])), shape=(nodes, nodes))
adjacency = torch.FloatTensor(((adjacency + adjacency.T) > 0).astype(np.float32).toarray())
features = torch.FloatTensor(data["node_features"].astype(np.float32))
train, val, test = (np.flatnonzero(data[f"{part}_masks"][0]) for part in ("train", "val", "test"))

# The settings of the authors' script for Cora under metattack.
settings = argparse.Namespace(
    lr=1e-3, weight_decay=5e-4, lr_adj=0.01, alpha=5e-4, beta=1.5, gamma=1, lambda_=0.001, phi=0, epochs=epochs,
    outer_steps=1, inner_steps=2, only_gcn=False, symmetric=False, debug=False,
)
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    network = GCN(nfeat=features.shape[1], nhid=16, nclass=int(labels.max()) + 1, dropout=0.5, device="cpu")
    model = ProGNN(network, settings, "cpu")
    started = time.perf_counter()
    model.fit(features, adjacency, labels, train, val)
    seconds = time.perf_counter() - started
    accuracies = [100 * model.test(features, labels, part) for part in (val, test)]
print(seconds / epochs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, *accuracies)
