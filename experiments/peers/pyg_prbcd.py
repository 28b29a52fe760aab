"""PRBCD of PyTorch Geometric against its own GCN: seconds, accuracy before and after, and the flipped pairs.

The GCN is that of lhs: two layers, 64 hidden units, dropout 0.5, rows of features that sum to 1, Adam with step 0.01 and weight
decay 5e-4, early stopping after 100 epochs without a better validation accuracy.
Usage: pyg_prbcd.py GRAPH.npz RATE OUT.json
"""
import copy
import json
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch_geometric.contrib.nn import PRBCDAttack
from torch_geometric.nn import GCNConv

data = np.load(sys.argv[1])
rate, out = float(sys.argv[2]), sys.argv[3]
torch.set_num_threads(2)
torch.manual_seed(0)
dense = data["node_features"].astype(np.float32)
x = torch.tensor(dense / np.maximum(dense.sum(1, keepdims=True), 1e-9))
labels = torch.tensor(data["node_labels"].astype(np.int64))
edges = np.unique(np.sort(data["edges"], axis=1), axis=0)
edges = edges[edges[:, 0] != edges[:, 1]]
edge_index = torch.tensor(np.concatenate([edges, edges[:, ::-1]]).T.astype(np.int64))
train, val, test = (torch.tensor(np.flatnonzero(data[f"{part}_masks"][0])) for part in ("train", "val", "test"))


class Gcn(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = GCNConv(x.shape[1], 64)
        self.second = GCNConv(64, int(labels.max()) + 1)

    def forward(self, x, edge_index, edge_weight=None):
        x = F.dropout(x, 0.5, self.training)
        x = self.first(x, edge_index, edge_weight).relu()
        return self.second(F.dropout(x, 0.5, self.training), edge_index, edge_weight)


model = Gcn()
adam = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
best, kept, waited = -1.0, None, 0
for _ in range(1000):
    model.train()
    adam.zero_grad()
    F.cross_entropy(model(x, edge_index)[train], labels[train]).backward()
    adam.step()
    model.eval()
    with torch.no_grad():
        right = (model(x, edge_index).argmax(1) == labels)[val].float().mean().item()
    waited += 1
    if right > best:
        best, kept, waited = right, copy.deepcopy(model.state_dict()), 0
    if waited > 100:
        break
model.load_state_dict(kept)
model.eval()


def accuracy(edge_index):
    with torch.no_grad():
        return 100 * (model(x, edge_index).argmax(1) == labels)[test].float().mean().item()


clean = accuracy(edge_index)
budget = int(rate * len(edges))
attack = PRBCDAttack(model, block_size=250_000, log=False)
started = time.perf_counter()
attacked, flips = attack.attack(x, edge_index, labels, budget=budget, idx_attack=test)
seconds = time.perf_counter() - started
json.dump({"clean": clean, "attacked": accuracy(attacked), "budget": budget, "flips": flips.shape[1], "seconds": seconds}, open(out, "w"))
