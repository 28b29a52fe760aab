"""Graphs by name, from files, or made up."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from . import _lhs
from ._arrays import whole
from ._graph import Graph

__all__ = ["fetch", "load", "names", "synth"]


def names() -> list[str]:
    """The public graphs that `load` and `fetch` know.

    >>> from lhs_graph import datasets
    >>> datasets.names()[:3]
    ['texas', 'cornell', 'wisconsin']
    """
    return _lhs.public_graphs()


def load(
    source: str | os.PathLike[str],
    *,
    directed: bool = False,
    scale: str | None = None,
    missing: str | None = None,
    as_words: list[str] | None = None,
) -> Graph:
    """Loads a public graph by its name, which is fetched once, or a file or folder of any format that the command line reads.

    Tables may have gaps, words, times and amounts: `missing` says what becomes of gaps (error, mean, median, zero, flag), `as_words` which
    columns of numbers are words, and `scale` what becomes of dense numbers (standard, rank, none; not said, each column is scaled as suits it).

    >>> import tempfile
    >>> from lhs_graph import datasets
    >>> folder = tempfile.mkdtemp()
    >>> datasets.synth(nodes=50, seed=1).save(folder + "/made-up.npz")
    >>> datasets.load(folder + "/made-up.npz").num_nodes
    50
    """
    prepare = {"scale": scale, "missing": missing, "as_words": as_words}
    name = os.fspath(source)
    if name in _lhs.public_graphs() and not Path(name).exists() and not _lhs.is_fetched(name):
        fetch(name)
    given = {key: value for key, value in prepare.items() if value is not None}
    return Graph._of(_lhs.load(source, directed=directed, prepare=json.dumps(given)))


def fetch(name: str, folder: str | os.PathLike[str] | None = None, *, mirror: str | None = None) -> Path:
    """Brings a public graph over the network, unless it is there, checks its SHA-256, and says where it is.

    `folder` is the cache folder unless it is named ($LHS_CACHE, or lhs in the platform's), `mirror` a place to ask instead of the files' homes
    ($LHS_MIRROR).
    """
    return Path(_lhs.fetch(name, folder, mirror))


def synth(seed: int = 0, **config: Any) -> Graph:
    """A made-up graph with a known truth, with 60/20/20 splits: `nodes`, `classes`, `class_shares`, `mean_degree`, `homophily`,
    `compatibility` (cyclic, uniform, roles), `features`, `signal`, `splits`.

    >>> from lhs_graph import datasets
    >>> datasets.synth(nodes=100, classes=2, homophily=0.9)
    Graph(100 nodes, 500 edges, 32 features, classes 0 and 1, 10 splits)
    """
    return Graph._of(_lhs.synth(json.dumps(config), whole(seed, "seed")))
