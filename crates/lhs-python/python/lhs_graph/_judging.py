"""How heterophilic data is, what is certain about predictions, and why they are what they are."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import numpy as np

from . import _lhs
from ._arrays import class_names, whole
from ._classifier import NodeClassifier
from ._display import axes, rows_as_frame, rows_as_html
from ._graph import as_graph
from ._progress import Told, shown
from ._settings import nested
from ._task import lists, task


class Audit:
    """Heterophily of each part of the data, and how far it lies to the right of that of the training nodes."""

    def __init__(self, found: dict[str, Any]) -> None:
        #: Everything, as `lhs audit --json` has it.
        self.document = found

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One record for each version of the data, graph, ring and part."""
        out = []
        for sample in self.document["samples"]:
            shift = sample.get("shift") or {}
            plain = {key: value for key, value in sample.items() if key not in ("shift", "shift_in_round", "quartiles", "histogram")}
            out.append({**plain, **{f"shift_{key}" if key == "mean" else key: value for key, value in shift.items()}})
        columns = dict.fromkeys(key for row in out for key in row)
        return [{column: row.get(column) for column in columns} for row in out]

    @property
    def frame(self) -> Any:
        """The same as a DataFrame."""
        return rows_as_frame(self.rows)

    def figure(self) -> Any:
        """Histograms of heterophily of each version and part, as a figure of matplotlib."""
        samples = [one for one in self.document["samples"] if one["graph"] == "given" and one["first_ring"] == one["last_ring"] == 1]
        versions = list(dict.fromkeys(one["data"] for one in samples))
        figure, all_axes = axes(figsize=(4.0 * len(versions), 3.0), ncols=len(versions), sharey=True, squeeze=False)
        bins = self.document["bins"]
        middles = (np.arange(bins) + 0.5) / bins
        for axis, version in zip(all_axes[0], versions, strict=True):
            for one in (one for one in samples if one["data"] == version and one["count"]):
                axis.plot(middles, np.array(one["histogram"]) / one["count"], marker="o", label=one["part"])
            axis.set(title=version, xlabel="share of neighbours of another class", ylabel="share of nodes")
            axis.legend()
        return figure

    def _repr_html_(self) -> str:
        return rows_as_html(self.rows)


def audit(
    graph: Any,
    X: Any = None,
    y: Any = None,
    *,
    against: dict[str, Any] | None = None,
    model: NodeClassifier | None = None,
    train: Any = None,
    val: Any = None,
    test: Any = None,
    split: int = 0,
    hops: int = 4,
    bins: int = 10,
    directed: bool | None = None,
) -> Audit:
    """Measures heterophily, ring by ring, of any graph, as `Graph` describes, and of changed versions of it with the same nodes.

    `against` names the versions; with a `model` its accuracy by heterophily and its latent graphs are measured, too.

    >>> from lhs_graph import attack, audit, datasets
    >>> graph = datasets.synth(nodes=200, homophily=0.8, seed=1)
    >>> found = audit(graph, against={"attacked": attack("injected", graph)[0]}, hops=1)
    >>> [(row["data"], row["part"]) for row in found.rows][-1]
    ('attacked', 'test')
    >>> found.rows[-1]["mean"] > found.rows[2]["mean"]
    True
    """
    clean, parts = task(graph, y, X, train=train, val=val, test=test, split=split, directed=directed)
    versions = [("clean", clean._data, lists(parts))]
    for name, other in (against or {}).items():
        other = as_graph(other, directed=directed)
        other = other if len(other.classes) else as_graph(other, labels=clean.labels)
        own = other.splits[0][2] if other.splits and np.isin(other.splits[0][2], parts[2]).all() else parts[2]
        versions.append((name, other._data, lists((parts[0], parts[1], own))))
    fitted = None if model is None else model._fitted
    classes = [] if model is None else class_names(model.classes_)
    return Audit(json.loads(_lhs.audit(versions, model=fitted, classes=classes, hops=whole(hops, "hops"), bins=whole(bins, "bins"))))


class Certificate:
    """What no attacker can change who changes up to so many edges, anywhere."""

    def __init__(self, found: dict[str, Any]) -> None:
        #: Shares of the test nodes in percent: `vote_accuracy`, `certified_accuracy` by radius, `mlp_accuracy`, …
        self.curves: dict[str, Any] = found["curves"]
        #: One record per node: its prediction, the votes, and its radius.
        self.nodes: list[dict[str, Any]] = found["nodes"]

    @property
    def radii(self) -> Any:
        """How many edges the prediction of each node survives."""
        return np.array([node["radius"] for node in self.nodes])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The curve: one record per radius."""
        both = zip(self.curves["certified_accuracy"], self.curves["collective_accuracy"], strict=True)
        line = self.curves["mlp_accuracy"]
        return [{"edges": radius, "certified": one, "together": all_, "mlp": line} for radius, (one, all_) in enumerate(both)]

    @property
    def frame(self) -> Any:
        """The nodes as a DataFrame."""
        return rows_as_frame(self.nodes)

    def figure(self) -> Any:
        """The curve beside that of a perceptron, which reads no edges, as a figure of matplotlib."""
        figure, axis = axes(figsize=(4.5, 3.0))
        edges = [row["edges"] for row in self.rows]
        axis.step(edges, [row["certified"] for row in self.rows], where="post", label="certified")
        axis.plot(edges, [row["mlp"] for row in self.rows], linestyle="--", label="mlp")
        axis.set(xlabel="edges changed, anywhere", ylabel="test accuracy, %")
        axis.legend()
        return figure

    def _repr_html_(self) -> str:
        return rows_as_html(self.rows)


#: Settings other than the defaults, as the command line has them: layers over the few edges of a bucket pay nothing.
_ON_BUCKETS = {"lhs": {"given_layers": 0, "latent_layers": 0}}


def certify(
    graph: Any,
    X: Any = None,
    y: Any = None,
    *,
    model: str | NodeClassifier = "lhs",
    on: Any = None,
    buckets: int = 11,
    poisoning: bool = False,
    train: Any = None,
    val: Any = None,
    test: Any = None,
    split: int = 0,
    seed: int = 0,
    directed: bool | None = None,
    progress: bool | Told | None = None,
    **settings: Any,
) -> Certificate:
    """Says which predictions no attacker can change with so many edges.

    The pairs of nodes are dealt into `buckets`, a model predicts on the edges of each, and they vote. `model` is a name with `settings`, or a
    `NodeClassifier` whose settings are used; it learns anew. `on` is another version of the graph whose predictions are certified;
    `poisoning` certifies against changes of the training graph, too.

    >>> from lhs_graph import certify, datasets
    >>> graph = datasets.synth(nodes=200, homophily=0.8, seed=1)
    >>> found = certify(graph, model="gcn", buckets=3, training__epochs=10)
    >>> len(found.radii), int(found.radii.max())
    (200, 1)
    """
    clean, parts = task(graph, y, X, train=train, val=val, test=test, split=split, seed=seed, directed=directed)
    if isinstance(model, NodeClassifier):
        settings = {**model._settings, **settings}
    name = model.model if isinstance(model, NodeClassifier) else model
    settings = {**_ON_BUCKETS.get(name, {}), **settings}
    other = None if on is None else as_graph(on, directed=directed)
    with shown(progress, name) as told:
        text = _lhs.certify(
            name,
            nested(settings),
            clean._data,
            lists(parts),
            on=None if other is None else other._data,
            buckets=whole(buckets, "buckets"),
            poisoning=poisoning,
            seed=seed,
            split=split,
            progress=told,
        )
    return Certificate(json.loads(text))


class Explanation:
    """Why a model gives a node its class: what its features, its edges and its neighbours add."""

    def __init__(self, found: dict[str, Any]) -> None:
        #: Everything, as `lhs explain --json` has it.
        self.document = found

    def __getitem__(self, key: str) -> Any:
        return self.document[key]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """What decides: features and neighbours, with the share of probability that each adds."""
        features = [{"what": f"feature {one['name']}", "adds": one["fall"]} for one in self.document["features"]["most"]]
        neighbours = [{"what": f"neighbour {one['node']}", "adds": one["fall"]} for one in self.document["neighbours"]["most"]]
        return sorted(features + neighbours, key=lambda row: -abs(row["adds"]))

    def __repr__(self) -> str:
        found = self.document
        lines = [f"node {found['node']}: class {found['prediction']}, {100 * found['probability']:.1f} %"]
        lines += [f"  {100 * row['adds']:+8.1f}  {row['what']}" for row in self.rows[:10]]
        lines += [f"  {flip['change']} edge to {flip['node']}: class {flip['prediction']}" for flip in found["flips"]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def explain(
    model: NodeClassifier,
    node: Any,
    graph: Any = None,
    *,
    top: int = 10,
    progress: bool | Told | None = None,
) -> Explanation:
    """Says why a model that has learned gives a node, named by its id, its class; by default on the graph that it learned from.

    Everything is found by predicting again without an edge or a feature, or with one more edge.

    >>> from lhs_graph import NodeClassifier, datasets, explain
    >>> graph = datasets.synth(nodes=100, homophily=0.8, seed=1)
    >>> model = NodeClassifier("gcn", training__epochs=20).fit(graph)
    >>> found = explain(model, 3)
    >>> found["prediction"] == str(model.predict()[3])
    True
    """
    asked = model._asked(graph, None, None)[0]
    ids = asked._data.node_ids
    try:
        place = ids.index(str(node)) if ids is not None else int(node)
    except ValueError:
        place = -1
    if not 0 <= place < asked.num_nodes:
        raise ValueError(f"{asked.name} has no node `{node}`\n  hint: give one of its {asked.num_nodes} ids, from {asked.node_ids[0]} to {asked.node_ids[-1]}")
    train: list[int] = []
    if getattr(model, "graph_", None) is not None and asked.num_nodes == model.graph_.num_nodes:
        train = model.split_[0].tolist()
        codes = model.graph_._data.labels()[train].tolist()
    else:
        codes = []
    with shown(progress, f"node {node}") as told:
        text = _lhs.explain(
            model._fitted,
            asked._data,
            place,
            classes=class_names(model.classes_),
            learned_from=(train, codes),
            top=whole(top, "top"),
            progress=told,
        )
    return Explanation(json.loads(text))


