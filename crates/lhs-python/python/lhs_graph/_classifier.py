"""Models in scikit-learn's shape."""

from __future__ import annotations

import json
import os
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _lhs
from ._arrays import Floats, Numbers, class_names
from ._display import rows_as_html
from ._graph import Graph, Nodes, Split, _scipy, as_graph
from ._progress import Told, shown
from ._settings import keywords, nested
from ._task import lists, task

Self = TypeVar("Self", bound="NodeClassifier")


class NodeClassifier:
    """A model of any kind, by its name: `NodeClassifier("gnnguard", hidden=32)`. `lhs_graph.models()` lists them.

    - `seed`: of everything random; the same seed gives the same bits, and those of the command line.
    - `validation_fraction`: the share of the training nodes that early stopping goes by if there are no validation nodes.
    - `progress`: whether to show how far training is (not said: if somebody is there to see it), or what to call.
    - `settings`: those of the model, groups joined by two underscores: `training__epochs=30`. `lhs_graph.settings("gcn")` has all of them with
      their defaults; one that there is not is refused with the nearest name.

    >>> from lhs_graph import NodeClassifier, datasets
    >>> graph = datasets.synth(nodes=200, classes=3, homophily=0.2, seed=1)
    >>> model = NodeClassifier("gcn", training__epochs=20).fit(graph)
    >>> model.predict_proba(graph).shape
    (200, 3)
    >>> model.score() > 1 / 3 # at the test nodes
    True
    >>> NodeClassifier("gcn", hiden=32)
    Traceback (most recent call last):
    ...
    ValueError: setting `hiden`: there is no such setting
      hint: did you mean `hidden`?
    """

    _estimator_type = "classifier"

    classes_: NDArray[Any]
    n_features_in_: int
    #: The graph that was learned from.
    graph_: Graph
    #: Training, validation and test nodes.
    split_: Split
    #: The course of training: one record per epoch.
    curve_: list[dict[str, Any]]
    _fitted: _lhs.Fitted

    def __init__(
        self,
        model: str = "lhs",
        *,
        seed: int = 0,
        validation_fraction: float = 0.2,
        progress: bool | Told | None = None,
        **settings: Any,
    ) -> None:
        self.model = model
        self.seed = seed
        self.validation_fraction = validation_fraction
        self.progress = progress
        self._settings = {key.replace(".", "__"): value for key, value in settings.items()}
        self._check()

    def _check(self) -> None:
        _lhs.model_settings(self.model, nested(self._settings))

    # What scikit-learn asks for

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What it was made with."""
        own = {"model": self.model, "seed": self.seed, "validation_fraction": self.validation_fraction, "progress": self.progress}
        return {**own, **self._settings}

    def set_params(self: Self, **params: Any) -> Self:
        """Changes what it was made with; any setting of the model may be named."""
        before = dict(self.__dict__), dict(self._settings)
        for key, value in params.items():
            if key in ("model", "seed", "validation_fraction", "progress"):
                setattr(self, key, value)
            else:
                self._settings = {**self._settings, key.replace(".", "__"): value}
        try:
            self._check()
        except Exception:
            self.__dict__.update(before[0])
            self._settings = before[1]
            raise
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(sparse=True),
        )

    def __repr__(self) -> str:
        said = [repr(self.model)] if type(self) is NodeClassifier else []
        defaults = {"seed": 0, "validation_fraction": 0.2, "progress": None}
        said += [f"{key}={getattr(self, key)!r}" for key, default in defaults.items() if getattr(self, key) != default]
        said += [f"{key}={value!r}" for key, value in self._settings.items()]
        return f"{type(self).__name__}({', '.join(said)})"

    # Learning and predicting

    def fit(
        self: Self,
        graph: Any,
        y: Any = None,
        *,
        features: Any = None,
        train: Any = None,
        val: Any = None,
        split: int = 0,
        directed: bool | None = None,
    ) -> Self:
        """Learns from the training nodes of any graph, as `Graph` describes.

        Classes `y`, `features` and the nodes of `train` and `val` (masks or numbers) are the graph's own unless they are given; `split` says
        which of its splits. Without any, all nodes with a class are learned from. Classes of other nodes are not looked at.
        """
        graph, parts = task(
            graph,
            y,
            features,
            train=train,
            val=val,
            split=split,
            validation_fraction=self.validation_fraction,
            seed=self.seed,
            directed=directed,
        )
        settings = nested(self._settings)
        with shown(self.progress, self.model) as told:
            learned_from = lists((parts[0], parts[1], parts[2][:0]))
            fitted, curve = _lhs.Fitted.fit(self.model, settings, graph._data, learned_from, self.seed, split, told)
        self._fitted, self.curve_ = fitted, json.loads(curve)
        self.graph_, self.split_ = graph, parts
        self.classes_, self.n_features_in_ = graph.classes, graph.num_features
        return self

    def predict_proba(self, graph: Any = None, *, features: Any = None, directed: bool | None = None) -> Floats:
        """The probability of each class, one row per node and one column per class of `classes_`; by default of the graph that was learned
        from. Of another graph the columns of features must be the same; its nodes may be others, unless the model is transductive."""
        graph, chosen = self._asked(graph, features, directed)
        found = self._fitted.predict(graph._data)
        return found if chosen is None else found[chosen]

    def predict(self, graph: Any = None, *, features: Any = None, directed: bool | None = None) -> NDArray[Any]:
        """The likeliest class of each node."""
        found: NDArray[Any] = self._decoded(self.predict_proba(graph, features=features, directed=directed).argmax(axis=1))
        return found

    def _decoded(self, codes: Numbers) -> NDArray[Any]:
        # A model of the command line knows its classes by their numbers.
        return self.classes_[codes] if hasattr(self, "classes_") else codes

    def score(self, graph: Any = None, y: Any = None, *, nodes: Any = None, features: Any = None) -> float:
        """The share of right answers at some nodes that have a class: those named, or by default those of the test part; of some nodes of a
        graph (`graph[nodes]`), at those."""
        from ._arrays import node_set
        from ._task import _scattered

        self._must_be_fitted()
        if isinstance(graph, Nodes):
            chosen: Numbers | None = graph.index
            y = _scattered(y, graph.index, graph.graph)
        else:
            chosen = None
        asked = self._asked(graph, features, None)[0]
        truth = as_graph(asked, labels=y)
        if nodes is not None:
            chosen = node_set(nodes, truth.num_nodes, "nodes")
        if chosen is None:
            same = truth.num_nodes == self.graph_.num_nodes if hasattr(self, "graph_") else False
            chosen = self.split_[2] if same and len(self.split_[2]) else np.flatnonzero(truth._data.labels() >= 0)
        codes = truth._data.labels()[chosen]
        known = codes >= 0
        if not known.any():
            raise ValueError("none of these nodes has a label\n  hint: give the classes as `y`, or other nodes")
        names, own = np.array(class_names(truth.classes)), np.array(class_names(self.classes_))
        said = own[self._fitted.predict(asked._data)[chosen[known]].argmax(axis=1)]
        return float(np.mean(said == names[codes[known]]))

    def _asked(self, graph: Any, features: Any, directed: bool | None) -> tuple[Graph, Numbers | None]:
        self._must_be_fitted()
        if graph is None:
            if not hasattr(self, "graph_"):
                raise ValueError("the graph that was learned from is not kept with a saved model\n  hint: give the graph to predict on")
            return self.graph_, None
        chosen = graph.index if isinstance(graph, Nodes) else None
        # Its classes are of no concern.
        return as_graph(graph, features=features, directed=directed), chosen

    def _must_be_fitted(self) -> None:
        if hasattr(self, "_fitted"):
            return
        said = f"this {type(self).__name__} has not learned yet\n  hint: call fit first"
        try:
            from sklearn.exceptions import NotFittedError
        except ImportError:
            raise AttributeError(said) from None
        raise NotFittedError(said)

    # What it knows

    @property
    def settings_(self) -> dict[str, Any]:
        """All settings it learned with, as keywords."""
        self._must_be_fitted()
        return keywords(self._fitted.settings())

    @property
    def summary_(self) -> list[str]:
        """What it decided from the training labels, in a few sentences; most models decide nothing."""
        self._must_be_fitted()
        return self._fitted.summary()

    @property
    def diagnostics_(self) -> list[str]:
        """The same in all detail."""
        self._must_be_fitted()
        return self._fitted.diagnostics()

    def embed(self, graph: Any = None) -> Floats | None:
        """The codes of the nodes that classes are read from; none of models that have none."""
        return self._fitted.embeddings(self._asked(graph, None, None)[0]._data)

    def structure(self, graph: Any = None) -> list[Any] | None:
        """The latent graph after each round, as SciPy CSR, of models that learn one."""
        asked = self._asked(graph, None, None)[0]
        rounds = self._fitted.structure(asked._data)
        return None if rounds is None else [_scipy(one, (asked.num_nodes, asked.num_nodes)) for one in rounds]

    # Keeping it

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to one file, from which nothing is executed when it is read; without the graph that it learned from."""
        self._must_be_fitted()
        kind = "words" if self.classes_.dtype.kind in "OUS" else self.classes_.dtype.str
        about = {
            "classes": self.classes_.tolist(),
            "type": kind,
            "settings": self._settings,
            "seed": self.seed,
            "validation_fraction": self.validation_fraction,
            "features": self.n_features_in_,
        }
        self._fitted.save(path, nested({"about": about}))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> NodeClassifier:
        """Reads what `save` wrote, or a model of the command line (RUN/split-0/model.lhs), whose classes are numbers."""
        fitted, text = _lhs.Fitted.load(path)
        about = json.loads(text)["about"] if text else {}
        options = {key: about[key] for key in ("seed", "validation_fraction") if key in about}
        settings = about.get("settings", {})
        model = LHSClassifier(**options, **settings) if fitted.name == "lhs" else NodeClassifier(fitted.name, **options, **settings)
        model._fitted, model.curve_ = fitted, []
        if about:
            kind = about["type"]
            model.classes_ = np.array(about["classes"], dtype=None if kind == "words" else np.dtype(kind))
            model.n_features_in_ = about["features"]
        return model

    def __getstate__(self) -> dict[str, Any]:
        state = {key: value for key, value in self.__dict__.items() if key not in ("graph_", "_fitted")}
        if hasattr(self, "_fitted"):
            state["_bytes"] = self._fitted.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        contents = state.pop("_bytes", None)
        self.__dict__.update(state)
        if contents is not None:
            self._fitted = _lhs.Fitted.from_bytes(contents)

    def _repr_html_(self) -> str:
        rows = [{"setting": key, "value": value} for key, value in self.get_params().items() if value is not None]
        said = "".join(f"<p>{line}</p>" for line in (self.summary_ if hasattr(self, "_fitted") else []))
        return f"<b>{type(self).__name__}</b>{rows_as_html(rows)}{said}"


class LHSClassifier(NodeClassifier):
    """Latent homophilic structures: learns a graph whose neighbours agree, and predicts on it. `NodeClassifier` says the rest.

    >>> from lhs_graph import LHSClassifier, datasets
    >>> graph = datasets.synth(nodes=200, classes=3, homophily=0.2, seed=1)
    >>> model = LHSClassifier(training__epochs=10, ensemble_size=1).fit(graph)
    >>> bool((model.predict(graph) == graph.labels).mean() > 1 / 3)
    True
    >>> model.structure()[0].shape # the latent graph before it is refined
    (200, 200)
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        validation_fraction: float = 0.2,
        progress: bool | Told | None = None,
        **settings: Any,
    ) -> None:
        super().__init__("lhs", seed=seed, validation_fraction=validation_fraction, progress=progress, **settings)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What it was made with."""
        return {key: value for key, value in super().get_params(deep).items() if key != "model"}
