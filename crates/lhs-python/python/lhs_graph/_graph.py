"""Graphs with what is known of their nodes: from anywhere, and back."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from html import escape
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from . import _lhs
from ._arrays import Floats, Numbers, array, class_names, features as as_features, floats, labels as as_labels, node_set, whole
from ._foreign import Found, Masks, aligned, is_path, take_apart

#: Training, validation and test nodes, by their numbers.
Split = tuple[Numbers, Numbers, Numbers]


#: Nodes have numbers of 32 bits.
_MOST_NODES = 2**32 - 1
#: Beyond so many nodes, numbers much larger than the edges need are ids.
_MANY_NODES, _NODES_PER_EDGE = 1_000_000, 100


class Graph:
    """A graph with features, classes and splits of its nodes, checked once, when it is made. Nothing of it changes.

    `edges` is any graph: an edge_index of shape (2, edges), a SciPy adjacency matrix, `Data` of PyTorch Geometric, a graph of NetworkX or
    DGL, a table of edges of pandas, a dataset of DeepRobust, or the path of a file. What it knows of its nodes is used, unless you say
    otherwise. Wherever a graph is asked for, all of these are welcome as they are.

    - `features`: one row of numbers per node, dense or SciPy; of NetworkX also names of attributes.
    - `labels`: one class per node, numbers or words; negative numbers, NaN and None mean that it is not known.
    - `train`, `val`, `test`: masks or numbers of nodes.
    - `directed`: whether the direction of edges is kept. Not said, edges have none, and a graph that seems to have one is remarked upon.

    A `float32` array of features whose rows stand one after the other is read where it is, without a copy: leave it as it is from then on.

    >>> import numpy as np
    >>> from lhs_graph import Graph
    >>> graph = Graph(np.array([[0, 1, 2], [1, 2, 3]]), features=np.eye(4), labels=["a", "a", "b", None])
    >>> graph
    Graph(4 nodes, 3 edges, 4 features, classes a and b)
    >>> graph.labels
    array(['a', 'a', 'b', None], dtype=object)
    >>> graph.to_scipy().toarray()[0]
    array([0., 1., 0., 0.], dtype=float32)
    """

    def __init__(
        self,
        edges: Any,
        *,
        features: Any = None,
        labels: Any = None,
        train: Any = None,
        val: Any = None,
        test: Any = None,
        weights: Any = None,
        num_nodes: int | None = None,
        node_ids: Sequence[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        directed: bool | None = None,
        name: str | None = None,
    ) -> None:
        if is_path(edges):
            from .datasets import load

            edges = load(edges, directed=bool(directed))
        keywords: dict[str, Any] = {"features": features, "labels": labels, "node_ids": node_ids}
        found = _own(edges) if isinstance(edges, Graph) else take_apart(edges, keywords)
        features, labels = (aligned(keywords[key], found.index) for key in ("features", "labels"))
        if feature_names is None:
            columns = found.feature_names if features is None else getattr(features, "columns", None)
            feature_names = None if columns is None else [str(column) for column in columns]
        features = found.features if features is None else features
        labels = found.labels if labels is None else labels
        weights = found.weights if weights is None else weights
        directed = found.directed if directed is None else directed
        ids = [str(node) for node in node_ids] if node_ids is not None and found.index is None else found.node_ids
        self._remark_upon_direction(found.sources, found.targets, directed)
        prepared = {} if features is None else as_features(features)
        count = _num_nodes(num_nodes if num_nodes is not None else found.num_nodes, prepared, labels, found)
        codes, self._classes, self._labels = _no_labels(count) if labels is None else as_labels(labels)
        self._data = _lhs.Data(
            name or found.name,
            count,
            np.ascontiguousarray(found.sources),
            np.ascontiguousarray(found.targets),
            weights=None if weights is None else floats(array(weights), "weights of edges").reshape(-1),
            directed=bool(directed),
            labels=(codes, class_names(self._classes)),
            node_ids=ids,
            feature_names=None if feature_names is None else list(feature_names),
            **prepared,
        )
        given = [] if train is None and val is None and test is None else [(train, val, test)]
        self._splits = [_numbers(split, count) for split in given or found.splits]

    @staticmethod
    def _remark_upon_direction(sources: Numbers, targets: Numbers, directed: bool | None) -> None:
        """Remarks upon a graph that has a direction which nobody said to keep or to forget."""
        if directed is not None or not len(sources):
            return
        most = int(max(sources.max(), targets.max())) + 1
        there = np.unique(sources * most + targets)
        answered = int(np.isin(targets * most + sources, there).sum())
        if 0 < answered < len(sources):
            warnings.warn(
                f"{len(sources) - answered} of {len(sources)} edges lead one way only, which is forgotten; to keep it, pass directed=True, "
                "and else directed=False",
                stacklevel=4,
            )

    @classmethod
    def _of(cls, data: _lhs.Data, classes: NDArray[Any] | None = None) -> Graph:
        """Around data of the library."""
        graph = cls.__new__(cls)
        graph._data = data
        names = data.class_names
        plain = names == [str(number) for number in range(len(names))]
        graph._classes = (np.arange(len(names)) if plain else np.array(names)) if classes is None else classes
        graph._labels = _decoded(data.labels(), graph._classes)
        graph._splits = [cast(Split, tuple(np.array(part, dtype=np.int64) for part in split)) for split in data.splits()]
        return graph

    # What it holds

    @property
    def name(self) -> str:
        """How it is called in tables."""
        return self._data.name

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self._data.num_nodes

    @property
    def num_edges(self) -> int:
        """Number of edges; those without direction count once."""
        return self._data.num_edges

    @property
    def num_features(self) -> int:
        """Number of columns of features."""
        return self._data.num_features

    @property
    def directed(self) -> bool:
        """Whether edges have a direction."""
        return self._data.directed

    @property
    def features(self) -> Any:
        """The features: a read-only array that shares its memory with this graph, or a SciPy CSR matrix of sparse ones."""
        found = self._data.features()
        return found if isinstance(found, np.ndarray) else _scipy(found, (self.num_nodes, self.num_features))

    @property
    def labels(self) -> NDArray[Any]:
        """The class of each node, as it was given."""
        return self._labels

    @property
    def classes(self) -> NDArray[Any]:
        """The classes, in the order of columns of probabilities."""
        return self._classes

    @property
    def node_ids(self) -> list[str]:
        """The names of the nodes; their numbers where they have no others."""
        return self._data.node_ids or [str(node) for node in range(self.num_nodes)]

    @property
    def feature_names(self) -> list[str]:
        """The names of the feature columns; their numbers where they have no others."""
        return self._data.feature_names or [str(column) for column in range(self.num_features)]

    @property
    def splits(self) -> list[Split]:
        """The splits that came with it: training, validation and test nodes by their numbers."""
        return list(self._splits)

    @property
    def remarks(self) -> list[str]:
        """What was repaired or looks odd."""
        return self._data.warnings

    @property
    def edge_index(self) -> Numbers:
        """The edges, shape (2, edges); those without direction stand in both."""
        bounds, columns, _ = self._data.adjacency()
        rows = np.repeat(np.arange(self.num_nodes, dtype=np.int64), np.diff(bounds))
        return np.stack([rows, columns.astype(np.int64)])

    @property
    def edge_weight(self) -> Floats | None:
        """The weights of the edges in the order of `edge_index`; none where every edge weighs 1."""
        return self._data.adjacency()[2] if self._data.weighted else None

    # What it becomes

    def to_scipy(self) -> Any:
        """The adjacency matrix as SciPy CSR."""
        return _scipy(self._data.adjacency(), (self.num_nodes, self.num_nodes))

    def to_pyg(self, split: int = 0) -> Any:
        """`Data` of PyTorch Geometric, with the masks of a split where there is one."""
        import torch
        from torch_geometric.data import Data

        features = self.features
        dense = features if isinstance(features, np.ndarray) else features.toarray()
        data = Data(edge_index=torch.from_numpy(self.edge_index), num_nodes=self.num_nodes)
        if self.num_features:
            data.x = torch.from_numpy(np.array(dense))
        weights = self.edge_weight
        if weights is not None:
            data.edge_weight = torch.from_numpy(weights)
        if len(self.classes):
            data.y = torch.from_numpy(self._data.labels())
        if self._splits:
            for part, nodes in zip(("train", "val", "test"), self._splits[split], strict=True):
                mask = torch.zeros(self.num_nodes, dtype=torch.bool)
                mask[torch.from_numpy(nodes)] = True
                data[f"{part}_mask"] = mask
        return data

    def to_networkx(self) -> Any:
        """A graph of NetworkX, its nodes called by their ids, with `label` and `weight`."""
        import networkx

        graph = networkx.DiGraph() if self.directed else networkx.Graph()
        names: list[Any] = self._data.node_ids or list(range(self.num_nodes))
        codes, classes = self._data.labels(), self.classes.tolist()
        for node, code in zip(names, codes.tolist(), strict=True):
            graph.add_node(node, **({"label": classes[code]} if code >= 0 else {}))
        edges, weights = self._once()
        for place, (a, b) in enumerate(edges.T.tolist()):
            graph.add_edge(names[a], names[b], **({} if weights is None else {"weight": float(weights[place])}))
        return graph

    def to_pandas(self) -> tuple[Any, Any]:
        """Two tables: edges (source, target, weight) and nodes (label and features, by id)."""
        import pandas

        names = np.array(self._data.node_ids or range(self.num_nodes))
        edges, weights = self._once()
        columns: dict[str, Any] = {"source": names[edges[0]], "target": names[edges[1]]}
        if weights is not None:
            columns["weight"] = weights
        features = self.features
        dense = features if isinstance(features, np.ndarray) else features.toarray()
        nodes = pandas.DataFrame(dense, columns=self.feature_names, index=pandas.Index(names, name="node"))
        nodes.insert(0, "label", _decoded(self._data.labels(), self.classes.astype(object)))
        return pandas.DataFrame(columns), nodes

    def _once(self) -> tuple[Numbers, Floats | None]:
        edges, weights = self.edge_index, self.edge_weight
        if self.directed:
            return edges, weights
        first = edges[0] < edges[1]
        return edges[:, first], None if weights is None else weights[first]

    def save(self, path: Any) -> None:
        """Writes it for the command line: an `.npz` file, or a folder of tables."""
        count = self.num_nodes
        splits = [_complete(split, self._data.labels(), count) for split in self._splits]
        data = self._data.with_splits([_lists(split) for split in splits]) if splits else self._data
        _lhs.save(data, path)

    # What scikit-learn wants of data

    def __len__(self) -> int:
        return self.num_nodes

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes and features."""
        return self.num_nodes, self.num_features

    def __getitem__(self, nodes: Any) -> Nodes:
        """Some of the nodes, in this graph: what `GridSearchCV` deals out."""
        return Nodes(self, np.arange(self.num_nodes))[nodes]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(_own(self)), "classes": self._classes, "given": self._labels, "codes": self._data.labels()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        features, weights = state["features"], state["weights"]
        self._data = _lhs.Data(
            state["name"],
            state["num_nodes"],
            np.ascontiguousarray(state["sources"]),
            np.ascontiguousarray(state["targets"]),
            weights=weights,
            directed=state["directed"],
            labels=(state["codes"], class_names(state["classes"])),
            node_ids=state["node_ids"],
            feature_names=state["feature_names"],
            **({} if features is None else as_features(features)),
        )
        self._classes, self._labels, self._splits = state["classes"], state["given"], state["splits"]

    def __repr__(self) -> str:
        return f"Graph({', '.join(self._facts())})"

    def _facts(self) -> list[str]:
        facts = [f"{self.num_nodes} nodes", f"{self.num_edges} edges", f"{self.num_features} features"]
        if self.directed:
            facts.append("directed")
        names = class_names(self.classes)
        if names:
            facts.append(f"classes {', '.join(names[:-1])} and {names[-1]}" if 1 < len(names) < 6 else f"{len(names)} classes")
        if self._splits:
            facts.append(f"{len(self._splits)} split{'s' if len(self._splits) > 1 else ''}")
        return facts

    def _repr_html_(self) -> str:
        facts = "".join(f"<li>{escape(fact)}</li>" for fact in self._facts())
        return f"<b>{escape(self.name)}</b><ul>{facts}</ul>"


class Nodes:
    """Some nodes of a graph, which is all there: to learn from them, or to be asked about them."""

    def __init__(self, graph: Graph, index: Numbers) -> None:
        self.graph, self.index = graph, index

    def __len__(self) -> int:
        return len(self.index)

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes and features."""
        return len(self.index), self.graph.num_features

    def __getitem__(self, nodes: Any) -> Nodes:
        if isinstance(nodes, tuple):  # X[rows, ...]
            nodes = nodes[0]
        return Nodes(self.graph, np.atleast_1d(self.index[nodes]))

    def __repr__(self) -> str:
        return f"{len(self)} nodes of {self.graph!r}"


def as_graph(graph: Any, **keywords: Any) -> Graph:
    """The graph in any graph, as `Graph` describes; one that is there already, unless something else is said of it."""
    keywords = {key: value for key, value in keywords.items() if value is not None}
    if isinstance(graph, Nodes):
        graph = graph.graph
    if isinstance(graph, Graph) and set(keywords) <= {"labels"}:
        return _relabelled(graph, keywords["labels"]) if keywords else graph
    return Graph(graph, **keywords)


def _own(graph: Graph) -> Found:
    """What a graph of ours knows."""
    edges, data = graph.edge_index, graph._data
    return Found(
        edges[0],
        edges[1],
        graph.num_nodes,
        weights=graph.edge_weight,
        features=graph.features if graph.num_features else None,
        labels=graph.labels if len(graph.classes) else None,
        splits=list(graph._splits),
        node_ids=data.node_ids,
        index=data.node_ids,
        feature_names=data.feature_names,
        directed=graph.directed,
        name=graph.name,
    )


def _relabelled(graph: Graph, labels: Any) -> Graph:
    codes, classes, given = as_labels(aligned(labels, graph._data.node_ids))
    if len(codes) != graph.num_nodes:
        raise ValueError(f"{len(codes)} labels for {graph.num_nodes} nodes\n  hint: give one per node, unknown ones as -1 or None")
    same = copy.copy(graph)
    if not (np.array_equal(codes, graph._data.labels()) and class_names(classes) == graph._data.class_names):
        same._data = graph._data.with_labels(codes, class_names(classes))
    same._classes, same._labels = classes, given
    return same


def _num_nodes(said: int | None, prepared: dict[str, Any], labels: Any, found: Any) -> int:
    if said is not None:
        return whole(said, "num_nodes", _MOST_NODES)
    if "dense" in prepared:
        return len(prepared["dense"])
    if "sparse" in prepared:
        return len(prepared["sparse"][0]) - 1
    if labels is not None:
        return len(labels)
    count = int(max(found.sources.max(initial=-1), found.targets.max(initial=-1))) + 1
    if count > _MANY_NODES + _NODES_PER_EDGE * len(found.sources):
        raise ValueError(
            f"{len(found.sources)} edges have nodes with numbers up to {count - 1}\n  hint: nodes are numbered 0, 1, 2, …; of ids make a table of "
            "edges (pandas), or say num_nodes if there are so many"
        )
    return count


def _no_labels(count: int) -> tuple[Numbers, NDArray[Any], NDArray[Any]]:
    unknown = np.full(count, -1, dtype=np.int64)
    return unknown, np.empty(0, dtype=np.int64), unknown


def _decoded(codes: Numbers, classes: NDArray[Any]) -> NDArray[Any]:
    """Classes by their numbers, as what they are; unknown ones as -1, or as None among words."""
    if classes.dtype.kind in "iu" or not len(classes):
        unknown: Any = -1
    else:
        unknown, classes = None, classes.astype(object)
    if (codes >= 0).all() and len(classes):
        return classes[codes]
    decoded = np.full(len(codes), unknown, dtype=object if unknown is None else np.int64)
    decoded[codes >= 0] = classes[codes[codes >= 0]]
    return decoded


def _numbers(split: Masks, count: int) -> Split:
    parts = [node_set(part, count, name) for part, name in zip(split, ("train", "val", "test"), strict=True)]
    none = np.empty(0, dtype=np.int64)
    return tuple(none if part is None else part for part in parts)  # type: ignore[return-value]


def _complete(split: Split, codes: Numbers, count: int) -> Split:
    """A split as files have it: without nodes that have no class."""
    return tuple(part[codes[part] >= 0] for part in split)  # type: ignore[return-value]


def _lists(split: Split) -> tuple[list[int], list[int], list[int]]:
    train, val, test = (part.tolist() for part in split)
    return train, val, test


def _scipy(parts: tuple[Numbers, NDArray[np.int32], Floats], shape: tuple[int, int]) -> Any:
    try:
        from scipy.sparse import csr_matrix
    except ImportError:
        raise ImportError("sparse matrices come as those of SciPy\n  hint: pip install scipy") from None
    bounds, columns, values = parts
    return csr_matrix((values, columns, bounds), shape=shape)
