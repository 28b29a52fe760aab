"""scikit-learn's own checks, cloning, searches."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from lhs_graph import Graph, LHSClassifier, NodeClassifier, StructureInducer


class OnRows(NodeClassifier):
    """The same on rows of features alone, which is what scikit-learn's checks have: nodes without edges."""

    def __init__(self, model: str = "mlp", *, seed: int = 0, validation_fraction: float = 0.2, progress: Any = None, **settings: Any) -> None:
        super().__init__(model, seed=seed, validation_fraction=validation_fraction, progress=progress, **settings)

    def fit(self, X: Any, y: Any = None) -> OnRows:  # type: ignore[override]
        super().fit(rows(X), y)
        return self

    def predict_proba(self, X: Any) -> Any:  # type: ignore[override]
        return super().predict_proba(rows(X))

    def predict(self, X: Any) -> Any:  # type: ignore[override]
        return self._decoded(self.predict_proba(X).argmax(axis=1))

    def score(self, X: Any, y: Any) -> float:  # type: ignore[override]
        return float(np.mean(self.predict(X) == y))


def rows(X: Any) -> Graph:
    return Graph(np.empty((2, 0), dtype=np.int64), features=X)


#: Checks that do not hold, each with the reason.
NOT_HELD = {
    "check_do_not_raise_errors_in_init_or_set_params": "settings are checked when they are said, not when they are used",
    "check_n_features_in_after_fitting": "other columns are refused, in the words of the library",
    "check_complex_data": "complex numbers are refused with a TypeError, as all wrong types are",
    "check_dtype_object": "things that are no numbers are refused with a TypeError, in other words",
    "check_estimators_empty_data_messages": "a graph without features is one that can be learned from",
    "check_classifiers_classes": "a negative number is no class, but a node whose class is not known",
    "check_supervised_y_2d": "a column of classes is taken, without a warning",
    "check_fit2d_1sample": "a single class is refused, in the words of the library",
    "check_requires_y_none": "classes may be the graph's own; that there are none is said in the words of the library",
}


@parametrize_with_checks([OnRows("mlp", training__epochs=60)], expected_failed_checks=lambda _: NOT_HELD, xfail_strict=True)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_clones_are_the_same_and_have_not_learned(graph: Graph) -> None:
    for model in (LHSClassifier(seed=3, training__epochs=4), NodeClassifier("gnnguard", hidden=8), StructureInducer(rounds=1)):
        again = clone(model)
        assert again.get_params() == model.get_params() and type(again) is type(model)
    assert is_classifier(LHSClassifier())
    model = NodeClassifier("gcn", training__epochs=3).fit(graph)
    assert not hasattr(clone(model), "classes_")


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_grid_is_searched_on_a_given_split(graph: Graph, n_jobs: int | None) -> None:
    train, val, test = graph.splits[0]
    grid = {"hidden": [4, 16], "training__learning_rate": [0.01, 0.05]}
    search = GridSearchCV(NodeClassifier("gcn", training__epochs=5, progress=False), grid, cv=[(train, val)], refit=False, n_jobs=n_jobs)
    search.fit(graph, graph.labels, val=val)
    assert len(search.cv_results_["params"]) == 4
    best = NodeClassifier("gcn", training__epochs=5).set_params(**search.best_params_).fit(graph, train=train, val=val)
    assert best.score(nodes=val) == pytest.approx(search.best_score_)
    scores = cross_val_score(NodeClassifier("gcn", training__epochs=5), graph, graph.labels, cv=3)
    assert scores.shape == (3,)


def test_some_nodes_of_a_graph(graph: Graph) -> None:
    part = graph[[5, 3, 1]]
    assert len(part) == 3 and part[[0, 2]].index.tolist() == [5, 1]
    model = NodeClassifier("gcn", training__epochs=5).fit(graph)
    assert np.array_equal(model.predict(part), model.predict(graph)[[5, 3, 1]])
    assert model.score(part, graph.labels[[5, 3, 1]]) == model.score(nodes=[5, 3, 1])
    assert pickle.loads(pickle.dumps(part)).index.tolist() == [5, 3, 1]
    learned = NodeClassifier("gcn", training__epochs=5).fit(graph[:60], graph.labels[:60])
    assert set(learned.split_[0]) | set(learned.split_[1]) == set(range(60))
