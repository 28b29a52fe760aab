"""Cuts a connected part out of a graph: the nodes that a breadth-first search from a node drawn with SEED finds first.

Usage: subgraph.py GRAPH.npz NODES SEED PART.npz
"""
import sys
from collections import deque

import numpy as np

data = dict(np.load(sys.argv[1]))
size, seed = int(sys.argv[2]), int(sys.argv[3])
edges, nodes = data["edges"], len(data["node_labels"])
neighbours = [[] for _ in range(nodes)]
for a, b in edges:
    neighbours[a].append(b)
    neighbours[b].append(a)
start = int(np.random.default_rng(seed).integers(nodes))
found, queue = {start}, deque([start])
while queue and len(found) < size:
    for other in neighbours[queue.popleft()]:
        if other not in found and len(found) < size:
            found.add(other)
            queue.append(other)
kept = np.array(sorted(found))
place = np.full(nodes, -1)
place[kept] = np.arange(len(kept))
inside = (place[edges] >= 0).all(axis=1)
part = {"node_features": data["node_features"][kept], "node_labels": data["node_labels"][kept], "edges": place[edges[inside]]}
part |= {name: masks[:, kept] for name, masks in data.items() if name.endswith("_masks")}
np.savez(sys.argv[4], **part)
