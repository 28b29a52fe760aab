"""What is learned from: a graph, and which of its nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import Numbers, array, node_set, whole
from ._graph import Graph, Nodes, Split, as_graph


def task(
    graph: Any,
    y: Any = None,
    features: Any = None,
    *,
    train: Any = None,
    val: Any = None,
    test: Any = None,
    split: int = 0,
    validation_fraction: float = 0.2,
    seed: int = 0,
    directed: bool | None = None,
) -> tuple[Graph, Split]:
    """The graph with its classes, and the nodes to learn from, to steer by and to score.

    What is not said is taken from a split of the graph. Without one, all nodes with a class are learned from; some of them, of every
    class alike, steer early stopping if nothing else is there to do so.
    """
    seed, split = whole(seed, "seed"), whole(split, "split")
    chosen = graph.index if isinstance(graph, Nodes) else None
    if chosen is not None:
        y = _scattered(y, chosen, graph.graph)
    graph = as_graph(graph, labels=y, features=features, directed=directed)
    codes = graph._data.labels()
    if not (codes >= 0).any():
        raise ValueError("no node has a label\n  hint: give the classes as `y`; training needs labelled nodes")
    count = graph.num_nodes
    parts = [node_set(part, count, name) for part, name in ((train, "train"), (val, "val"), (test, "test"))]
    labelled = np.flatnonzero(codes >= 0)
    if chosen is not None:
        parts[0] = chosen[codes[chosen] >= 0] if parts[0] is None else parts[0]
    elif parts[0] is None and graph._splits:
        if not 0 <= split < len(graph._splits):
            raise ValueError(f"there is no split {split}\n  hint: choose one of 0 to {len(graph._splits) - 1}")
        own = graph._splits[split]
        # Nodes of a mask that have no class can neither teach nor score.
        parts = [own[place][codes[own[place]] >= 0] if part is None else part for place, part in enumerate(parts)]
    if parts[0] is None:
        parts[0] = np.setdiff1d(labelled, np.concatenate([part for part in parts[1:] if part is not None] or [labelled[:0]]))
    train_nodes, val_nodes, test_nodes = parts
    assert train_nodes is not None
    if train_nodes.size == 0:
        raise ValueError("the train part of the split is empty\n  hint: give nodes to learn from, as a mask or by their numbers")
    if val_nodes is None or (val_nodes.size == 0 and val is None):
        train_nodes, val_nodes = _held_back(train_nodes, codes, validation_fraction, seed)
    if test_nodes is None:
        test_nodes = np.setdiff1d(labelled, np.concatenate([train_nodes, val_nodes]))
    return graph, (train_nodes, val_nodes, test_nodes)


def _scattered(y: Any, chosen: Numbers, graph: Graph) -> Any:
    """Classes of some nodes over what the graph knows of the others."""
    if y is None:
        return None
    given = array(y)
    if len(given) == graph.num_nodes:
        return given
    if len(given) != len(chosen):
        raise ValueError(f"{len(given)} labels for {len(chosen)} nodes\n  hint: give one per node")
    whole = given.dtype.kind in "iu"
    own = graph.labels if len(graph.classes) and (graph.labels.dtype.kind in "iu") == whole else None
    if whole:
        spread = np.full(graph.num_nodes, -1, dtype=np.int64) if own is None else own.astype(np.int64)
    else:
        spread = np.full(graph.num_nodes, None, dtype=object) if own is None else own.astype(object)
    spread[chosen] = given
    return spread


def _held_back(train: Numbers, codes: Numbers, fraction: float, seed: int) -> tuple[Numbers, Numbers]:
    """A share of the training nodes, of every class alike, to steer early stopping by."""
    if not 0.0 <= fraction < 1.0:
        raise ValueError(f"validation_fraction {fraction} is out of range\n  hint: choose a number from 0, and below 1")
    draw = np.random.RandomState(seed % 2**32)
    held: list[Numbers] = []
    classes = codes[train] if (train < len(codes)).all() and (train >= 0).all() else np.zeros(len(train), dtype=np.int64)
    for one in np.unique(classes):
        members = train[classes == one]
        held.append(draw.permutation(members)[: int(round(fraction * len(members)))])
    val = np.sort(np.concatenate(held))
    return np.setdiff1d(train, val), val


def lists(split: Split) -> tuple[list[int], list[int], list[int]]:
    """A split as the extension takes it."""
    train, val, test = (part.tolist() for part in split)
    return train, val, test
