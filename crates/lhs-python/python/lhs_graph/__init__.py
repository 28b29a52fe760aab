"""Node classifiers that keep working when somebody tampers with the graph.

>>> from lhs_graph import LHSClassifier, datasets
>>> graph = datasets.synth(nodes=200, homophily=0.2, seed=1)        # or any graph of PyTorch Geometric, SciPy, NetworkX, pandas, DGL, DeepRobust
>>> model = LHSClassifier(training__epochs=10).fit(graph)
>>> probabilities = model.predict_proba(graph)
"""

from __future__ import annotations

import json as _json
from typing import Any

from . import _lhs, datasets
from ._attack import attack, attacks
from ._classifier import LHSClassifier, NodeClassifier
from ._experiments import Bench, Report, bench, report, suites
from ._graph import Graph
from ._judging import Audit, Certificate, Explanation, audit, certify, explain
from ._lhs import __version__, num_threads, set_num_threads
from ._settings import flat as _flat
from ._structure import StructureInducer, to_edge_index

__all__ = [
    "Audit",
    "Bench",
    "Certificate",
    "Explanation",
    "Graph",
    "LHSClassifier",
    "NodeClassifier",
    "Report",
    "StructureInducer",
    "__version__",
    "attack",
    "attacks",
    "audit",
    "bench",
    "certify",
    "datasets",
    "explain",
    "found_settings",
    "models",
    "num_threads",
    "report",
    "set_num_threads",
    "settings",
    "suites",
    "to_edge_index",
]


def models() -> list[dict[str, Any]]:
    """Every model: its name, what it does, whether it is transductive or reads the direction of edges, and its settings.

    >>> import lhs_graph
    >>> [model["name"] for model in lhs_graph.models()][:3]
    ['lhs', 'mlp', 'gcn']
    """
    found: list[dict[str, Any]] = _json.loads(_lhs.models_known())
    return found


def settings(name: str) -> dict[str, Any]:
    """All settings of a model, or of an attack, with their defaults, as keywords.

    >>> import lhs_graph
    >>> lhs_graph.settings("gcn")["hidden"], lhs_graph.settings("injected")["rate"]
    (64, 1.0)
    """
    of_attack = any(attack["name"] == name for attack in attacks())
    found = _lhs.attack_settings(name, "{}") if of_attack else _lhs.model_settings(name, "{}")
    return _flat(_json.loads(found))


def found_settings(graph: Graph, model: str = "lhs") -> dict[str, Any]:
    """The settings that a search found for a model on this very data, which the command line takes by itself; none where there are none:
    `LHSClassifier(**found_settings(graph))`.

    >>> from lhs_graph import datasets, found_settings
    >>> found_settings(datasets.synth(nodes=100))
    {}
    """
    return _flat(_json.loads(_lhs.found(graph._data, model)))
