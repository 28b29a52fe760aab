"""Times DeepRobust's Metattack (meta-self) on one thread: seconds per flip and peak memory in KiB.

Usage: deeprobust_metattack.py GRAPH.npz FLIPS
"""
import contextlib
import io
import resource
import sys
import time
import types

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
attacks = only("deeprobust.graph.global_attack")
from deeprobust.graph.global_attack.base_attack import BaseAttack  # noqa: E402

attacks.BaseAttack = BaseAttack
from deeprobust.graph.defense.gcn import GCN  # noqa: E402
from deeprobust.graph.global_attack.mettack import Metattack  # noqa: E402

torch.set_num_threads(1)
torch.manual_seed(0)
data = np.load(sys.argv[1])
flips = int(sys.argv[2])
edges, labels = data["edges"], data["node_labels"]
nodes = len(labels)
ones = np.ones(len(edges), dtype=np.float32)
adjacency = sp.csr_matrix((ones, (edges[:, 0], edges[:, 1])), shape=(nodes, nodes))
adjacency = ((adjacency + adjacency.T) > 0).astype(np.float32)
features = sp.csr_matrix(data["node_features"].astype(np.float32))
train, val, test = (np.flatnonzero(data[f"{part}_masks"][0]) for part in ("train", "val", "test"))

with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    shape = dict(nfeat=features.shape[1], nhid=16, nclass=int(labels.max()) + 1)
    surrogate = GCN(**shape, dropout=0, with_relu=False, with_bias=False, device="cpu")
    surrogate.fit(features, adjacency, labels, train, val, patience=30)
    attack = Metattack(surrogate, nnodes=nodes, feature_shape=features.shape, attack_structure=True, lambda_=0)
    unlabelled = np.union1d(val, test)
    # Sparse features, as in its own examples: there they were faster than dense ones.
    dense = adjacency.toarray()
    started = time.perf_counter()
    attack.attack(features, dense, labels, train, unlabelled, n_perturbations=flips, ll_constraint=False)
    seconds = time.perf_counter() - started
print(seconds / flips, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
