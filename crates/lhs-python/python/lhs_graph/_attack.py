"""Attacks on graphs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _lhs
from ._classifier import NodeClassifier
from ._display import Record
from ._graph import Graph
from ._progress import Told, shown
from ._settings import nested
from ._task import lists, task


def attack(
    name: str,
    graph: Any,
    X: Any = None,
    y: Any = None,
    *,
    rate: float | None = None,
    train: Any = None,
    val: Any = None,
    test: Any = None,
    split: int = 0,
    victim: NodeClassifier | None = None,
    seed: int = 0,
    directed: bool | None = None,
    progress: bool | Told | None = None,
    **settings: Any,
) -> tuple[Graph, Record]:
    """Attacks any graph, as `Graph` describes, and returns the attacked graph and a record of what was done.

    `rate` is how strong the attack is; 0 changes nothing. The test nodes are attacked. An attack may use every label: it is the adversary, not
    a model. `victim` is a model that has learned, for attacks that ask theirs. `lhs_graph.attacks()` lists the attacks with their settings.

    >>> from lhs_graph import attack, datasets
    >>> graph = datasets.synth(nodes=200, homophily=0.8, seed=1)
    >>> attacked, record = attack("injected", graph, rate=0.5)
    >>> record["edges_added"] == attacked.num_edges - graph.num_edges
    True
    >>> record["heterophily_after"] > record["heterophily_before"]
    True
    """
    clean, parts = task(graph, y, X, train=train, val=val, test=test, split=split, seed=seed, directed=directed)
    if rate is not None:
        settings["rate"] = rate
    if victim is not None:
        victim._must_be_fitted()
    with shown(progress, name) as told:
        data, text, added, removed, scored_nodes = _lhs.attack(
            name,
            nested(settings),
            clean._data,
            lists(parts),
            victim=None if victim is None else victim._fitted,
            seed=seed,
            split=split,
            progress=told,
        )
    attacked = Graph._of(data, clean.classes)
    attacked._labels = clean.labels
    attacked._splits = [(parts[0], parts[1], np.array(scored_nodes, dtype=np.int64))]
    record = Record(json.loads(text), attack=name, added=added, removed=removed)
    return attacked, record


def attacks() -> list[dict[str, Any]]:
    """Every attack: its name, what it does, and its settings with their defaults."""
    found: list[dict[str, Any]] = json.loads(_lhs.attacks_known())
    return found
