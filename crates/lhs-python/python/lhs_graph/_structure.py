"""The latent structure by itself, for other networks to learn on."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _lhs
from ._graph import Split, _scipy, as_graph
from ._progress import Told, shown
from ._settings import keywords, nested
from ._task import lists, task

Self = TypeVar("Self", bound="StructureInducer")


class StructureInducer:
    """Learns a graph whose neighbours share a class, out of one whose neighbours do not, for any network to learn on.

    - `settings`: those of the structure: `lhs_graph.settings("lhs")` has them as `structure__…`; here they go without that word.

    `fit_transform` returns the latent graph of the last round as SciPy CSR; `rounds_` has all of them.

    >>> from lhs_graph import StructureInducer, datasets, to_edge_index
    >>> graph = datasets.synth(nodes=200, classes=3, homophily=0.2, seed=1)
    >>> inducer = StructureInducer(rounds=1, rounds_must_pay=False, refiner__epochs=5)
    >>> latent = inducer.fit_transform(graph)
    >>> latent.shape, len(inducer.rounds_)
    ((200, 200), 2)
    >>> edge_index, edge_weight = to_edge_index(latent)
    >>> edge_index.shape[0]
    2
    """

    #: The latent graph after each round, the induced one first, as SciPy CSR.
    rounds_: list[Any]
    #: Training, validation and test nodes.
    split_: Split

    def __init__(
        self,
        *,
        seed: int = 0,
        validation_fraction: float = 0.2,
        progress: bool | Told | None = None,
        **settings: Any,
    ) -> None:
        self.seed = seed
        self.validation_fraction = validation_fraction
        self.progress = progress
        self._settings = {key.replace(".", "__"): value for key, value in settings.items()}
        _lhs.Inducer.settings(nested(self._settings))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What it was made with."""
        own = {"seed": self.seed, "validation_fraction": self.validation_fraction, "progress": self.progress}
        return {**own, **self._settings}

    def set_params(self: Self, **params: Any) -> Self:
        """Changes what it was made with; any setting of the structure may be named."""
        fresh = type(self)(**{**self.get_params(), **{key.replace(".", "__"): value for key, value in params.items()}})
        self.__dict__.update(fresh.__dict__)
        return self

    def fit(
        self: Self,
        graph: Any,
        X: Any = None,
        y: Any = None,
        train: Any = None,
        val: Any = None,
        *,
        split: int = 0,
        directed: bool | None = None,
    ) -> Self:
        """Learns from the training nodes of any graph, as `Graph` describes; what is not given is the graph's own."""
        graph, parts = task(
            graph,
            y,
            X,
            train=train,
            val=val,
            split=split,
            validation_fraction=self.validation_fraction,
            seed=self.seed,
            directed=directed,
        )
        with shown(self.progress, "structure") as told:
            learned_from = lists((parts[0], parts[1], parts[2][:0]))
            self._inducer, rounds = _lhs.Inducer.fit(nested(self._settings), graph._data, learned_from, self.seed, split, told)
        self.rounds_ = [_scipy(one, (graph.num_nodes, graph.num_nodes)) for one in rounds]
        self.split_ = parts
        return self

    def fit_transform(
        self,
        graph: Any,
        X: Any = None,
        y: Any = None,
        train: Any = None,
        val: Any = None,
        *,
        split: int = 0,
        directed: bool | None = None,
    ) -> Any:
        """Learns, and returns the latent graph as SciPy CSR: entry (i, j) says how alike the nodes i and j are."""
        return self.fit(graph, X, y, train, val, split=split, directed=directed).rounds_[-1]

    def transform(self, graph: Any, X: Any = None, *, directed: bool | None = None) -> Any:
        """The latent graph of another graph, such as one with other edges, without learning again."""
        if not hasattr(self, "_inducer"):
            raise AttributeError("this StructureInducer has not learned yet\n  hint: call fit first")
        graph = as_graph(graph, features=X, directed=directed)
        rounds = self._inducer.apply(graph._data)
        return _scipy(rounds[-1], (graph.num_nodes, graph.num_nodes))

    @property
    def diagnostics_(self) -> list[str]:
        """What was decided from the training labels."""
        return self._inducer.diagnostics()

    @property
    def settings_(self) -> dict[str, Any]:
        """All settings, as keywords."""
        return keywords(_lhs.Inducer.settings(nested(self._settings)))

    def __getstate__(self) -> dict[str, Any]:
        # What was learned stays as graphs; another graph needs learning again.
        return {key: value for key, value in self.__dict__.items() if key != "_inducer"}

    def __repr__(self) -> str:
        said = [f"{key}={value!r}" for key, value in self._settings.items()]
        return f"StructureInducer({', '.join(said)})"


def to_edge_index(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """A SciPy matrix as PyTorch Geometric has it: `edge_index` of shape (2, edges), and `edge_weight`."""
    entries = matrix.tocoo()
    return np.stack([entries.row, entries.col]).astype(np.int64), entries.data.astype(np.float32)
