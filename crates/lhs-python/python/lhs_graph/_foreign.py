"""Graphs of other packages, taken apart by what they look like: nothing is imported that the user has not.

Each reader returns a `Found`: edges, and whatever else the object knows of its nodes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import Numbers, array, is_sparse

#: Training, validation and test nodes, by masks or numbers.
Masks = tuple[Any, Any, Any]


@dataclass
class Found:
    """What was found in somebody's graph."""

    sources: Numbers
    targets: Numbers
    num_nodes: int | None = None
    weights: Any = None
    features: Any = None
    labels: Any = None
    splits: list[Masks] = field(default_factory=list)
    node_ids: list[str] | None = None
    #: The ids as they were, to match rows of tables by.
    index: Any = None
    feature_names: list[str] | None = None
    directed: bool | None = None
    name: str = "graph"


def take_apart(thing: Any, keywords: dict[str, Any]) -> Found:
    """The edges of a graph of any package, and what it knows of its nodes."""
    for look, read in READERS:
        if look(thing):
            return read(thing, keywords)
    raise TypeError(
        f"this is no graph that can be read: {type(thing).__module__}.{type(thing).__qualname__}\n"
        "  hint: give an edge_index array of shape (2, edges), a SciPy matrix, a NetworkX, DGL or PyTorch Geometric graph, a table of edges, "
        "or the path of a file"
    )


# PyTorch Geometric


def _is_pyg(thing: Any) -> bool:
    return hasattr(thing, "edge_index") and hasattr(thing, "num_nodes")


def _pyg(data: Any, keywords: dict[str, Any]) -> Found:
    if data.edge_index is None:
        raise ValueError("the data has no edge_index\n  hint: transforms such as ToSparseTensor take it away: leave them out")
    found = _edge_index(array(data.edge_index))
    found.num_nodes = None if data.num_nodes is None else int(data.num_nodes)
    found.weights = getattr(data, "edge_weight", None)
    found.features, found.labels = getattr(data, "x", None), getattr(data, "y", None)
    masks = [getattr(data, f"{part}_mask", None) for part in ("train", "val", "test")]
    found.splits = _splits(masks)
    return found


def _splits(masks: Sequence[Any]) -> list[Masks]:
    """Splits from masks of the three parts; each may have a column per split."""
    parts = [None if mask is None else array(mask) for mask in masks]
    if parts[0] is None:
        return []
    count = max(part.shape[1] if part is not None and part.ndim == 2 else 1 for part in parts)

    def of(part: NDArray[Any] | None, split: int) -> Any:
        if part is None or part.ndim == 1:
            return part
        return part[:, min(split, part.shape[1] - 1)]

    return [(of(parts[0], split), of(parts[1], split), of(parts[2], split)) for split in range(count)]


# DGL


def _is_dgl(thing: Any) -> bool:
    return hasattr(thing, "ndata") and hasattr(thing, "edges") and hasattr(thing, "num_nodes")


def _dgl(graph: Any, keywords: dict[str, Any]) -> Found:
    sources, targets = graph.edges()
    known = graph.ndata
    edges = getattr(graph, "edata", {})

    def get(*names: str) -> Any:
        return next((known[name] for name in names if name in known), None)

    return Found(
        _whole(array(sources)),
        _whole(array(targets)),
        int(graph.num_nodes()),
        weights=next((edges[name] for name in ("weight", "w") if name in edges), None),
        features=get("feat", "features", "x"),
        labels=get("label", "labels", "y"),
        splits=_splits([get("train_mask"), get("val_mask"), get("test_mask")]),
    )


# NetworkX


def _is_networkx(thing: Any) -> bool:
    return hasattr(thing, "is_directed") and hasattr(thing, "nodes") and hasattr(thing, "edges") and hasattr(thing, "adj")


def _networkx(graph: Any, keywords: dict[str, Any]) -> Found:
    nodes = list(graph.nodes)
    number = {node: place for place, node in enumerate(nodes)}
    edges = [(number[a], number[b], weight) for a, b, weight in graph.edges(data="weight")]
    ends = np.array([(a, b) for a, b, _ in edges], dtype=np.int64).reshape(-1, 2)
    weighted = any(weight is not None for _, _, weight in edges)
    found = Found(ends[:, 0], ends[:, 1], len(nodes), index=nodes)
    found.weights = [1.0 if weight is None else weight for _, _, weight in edges] if weighted else None
    found.node_ids = None if nodes == list(range(len(nodes))) else [str(node) for node in nodes]
    # Attributes of nodes are asked for by their names.
    features, labels = keywords.get("features"), keywords.get("labels")
    if isinstance(features, str):
        keywords["features"] = np.array([graph.nodes[node][features] for node in nodes])
    elif isinstance(features, (list, tuple)) and features and all(isinstance(name, str) for name in features):
        keywords["features"] = np.array([[graph.nodes[node][name] for name in features] for node in nodes])
    if isinstance(labels, str):
        keywords["labels"] = np.array([graph.nodes[node].get(labels) for node in nodes], dtype=object)
    return found


# pandas


def _is_table(thing: Any) -> bool:
    return hasattr(thing, "iloc") and hasattr(thing, "columns")


def _table(edges: Any, keywords: dict[str, Any]) -> Found:
    names = [str(name).lower() for name in edges.columns]
    if len(names) < 2:
        raise ValueError(f"a table of edges needs two columns, this has {len(names)}\n  hint: give the columns source and target")

    def column(*wanted: str, otherwise: int | None = None) -> Any:
        place = next((names.index(name) for name in wanted if name in names), otherwise)
        return None if place is None else edges.iloc[:, place].to_numpy()

    sources, targets = column("source", "src", "from", "u", otherwise=0), column("target", "dst", "to", "v", otherwise=1)
    # Whoever knows the nodes says in which order they stand; else they stand as the edges name them.
    known = next(
        (keywords[key].index for key in ("features", "labels") if hasattr(keywords.get(key), "index") and hasattr(keywords.get(key), "iloc")),
        keywords.get("node_ids"),
    )
    ids = list(dict.fromkeys([*sources.tolist(), *targets.tolist()])) if known is None else list(known)
    number = {node: place for place, node in enumerate(ids)}
    if len(number) != len(ids):
        raise ValueError("two rows of nodes have the same id\n  hint: give every node one row")
    try:
        ends = [np.array([number[node] for node in end.tolist()], dtype=np.int64) for end in (sources, targets)]
    except KeyError as missing:
        raise ValueError(
            f"an edge names the node {missing.args[0]!r}, which the nodes do not have\n  hint: give every end of an edge a row in the "
            "features and labels"
        ) from None
    found = Found(ends[0], ends[1], len(ids), weights=column("weight", "w"), index=ids)
    found.node_ids = [str(node) for node in ids]
    return found


def aligned(values: Any, index: Any) -> Any:
    """Rows of a table in the order of the nodes, matched by id; everything else as it is."""
    if index is None or not hasattr(values, "reindex"):
        return values
    missing = [node for node in index if node not in values.index]
    if missing and hasattr(values, "columns"):
        raise ValueError(f"the features have no row of the node {missing[0]!r}\n  hint: give every node a row")
    return values.reindex(index)


# DeepRobust


def _is_deeprobust(thing: Any) -> bool:
    return hasattr(thing, "adj") and is_sparse(thing.adj)


def _deeprobust(data: Any, keywords: dict[str, Any]) -> Found:
    found = _matrix(data.adj, keywords)
    found.features, found.labels = getattr(data, "features", None), getattr(data, "labels", None)
    parts = [getattr(data, f"idx_{part}", None) for part in ("train", "val", "test")]
    found.splits = [] if parts[0] is None else [(parts[0], parts[1], parts[2])]
    found.name = str(getattr(data, "name", "graph"))
    return found


# matrices and arrays


def _is_matrix(thing: Any) -> bool:
    return is_sparse(thing)


def _matrix(matrix: Any, keywords: dict[str, Any]) -> Found:
    rows, columns = matrix.shape
    if rows != columns:
        raise ValueError(f"an adjacency matrix is square, this is {rows} × {columns}\n  hint: give features as `features=`")
    entries = matrix.tocoo()
    there = entries.data != 0
    sources, targets, weights = entries.row[there], entries.col[there], entries.data[there]
    found = Found(_whole(sources), _whole(targets), int(rows))
    found.weights = None if (weights == 1).all() else weights
    return found


def _is_array(thing: Any) -> bool:
    return hasattr(thing, "shape") or isinstance(thing, (list, tuple))


def _array(thing: Any, keywords: dict[str, Any]) -> Found:
    found = array(thing)
    if found.ndim == 2 and found.shape[0] == 2:
        return _edge_index(found)
    if found.ndim == 2 and found.shape[0] == found.shape[1] and found.dtype.kind in "fiub":
        sources, targets = np.nonzero(found)
        weights = found[sources, targets]
        adjacency = Found(_whole(sources), _whole(targets), len(found))
        adjacency.weights = None if (weights == 1).all() else weights
        return adjacency
    if found.ndim == 1 and found.size == 0:
        return _edge_index(np.empty((2, 0), dtype=np.int64))
    hint = "give its transpose: edges.T" if found.ndim == 2 and found.shape[1] == 2 else "give an array of shape (2, edges), or a square matrix"
    raise ValueError(f"an array of shape {found.shape} is no graph\n  hint: {hint}; features go to `features=`")


def _edge_index(found: NDArray[Any]) -> Found:
    if found.ndim != 2 or found.shape[0] != 2:
        raise ValueError(f"an edge_index has the shape (2, edges), this has {found.shape}\n  hint: give one column per edge")
    return Found(_whole(found[0]), _whole(found[1]))


def _whole(numbers: NDArray[Any]) -> Numbers:
    if not numbers.size:
        return np.empty(0, dtype=np.int64)
    if numbers.dtype.kind not in "iu":
        raise TypeError(f"the ends of edges are of type {numbers.dtype}\n  hint: give numbers of nodes, such as int64")
    return np.ascontiguousarray(numbers, dtype=np.int64)


def is_path(thing: Any) -> bool:
    """Whether this names a file, a folder or a fetched graph."""
    return isinstance(thing, (str, os.PathLike))


READERS = [
    (_is_pyg, _pyg),
    (_is_dgl, _dgl),
    (_is_networkx, _networkx),
    (_is_table, _table),
    (_is_deeprobust, _deeprobust),
    (_is_matrix, _matrix),
    (_is_array, _array),
]
