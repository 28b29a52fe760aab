"""Learning, predicting, keeping."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import lhs_graph
from lhs_graph import Graph, LHSClassifier, NodeClassifier

QUICK = {"training__epochs": 8}


def test_arrays_are_enough(graph: Graph) -> None:
    train, val, test = graph.splits[0]
    mask = np.zeros(graph.num_nodes, dtype=bool)
    mask[train] = True
    model = NodeClassifier("gcn", **QUICK).fit(graph.to_scipy(), graph.labels, features=graph.features, train=mask, val=val)
    whole = NodeClassifier("gcn", **QUICK).fit(graph)
    assert np.array_equal(model.predict_proba(), whole.predict_proba())
    assert np.array_equal(model.predict(), model.classes_[model.predict_proba().argmax(axis=1)])
    assert model.predict_proba().dtype == np.float32
    assert np.allclose(model.predict_proba().sum(axis=1), 1, atol=1e-5)
    assert model.score(nodes=test) == pytest.approx(np.mean(model.predict()[test] == graph.labels[test]))
    assert model.score() == model.score(nodes=test)
    assert len(model.curve_) == 8 and model.curve_[0]["epoch"] == 0


def test_labels_of_test_nodes_do_not_matter(graph: Graph) -> None:
    hidden = graph.labels.copy()
    hidden[graph.splits[0][2]] = -1
    train, val, _ = graph.splits[0]
    known = NodeClassifier("gcn", **QUICK).fit(graph).predict_proba()
    assert np.array_equal(known, NodeClassifier("gcn", **QUICK).fit(graph, hidden, train=train, val=val).predict_proba())


def test_classes_are_what_they_were(graph: Graph) -> None:
    words = np.array(["red", "green", "blue"])[graph.labels]
    train, val, test = graph.splits[0]
    model = NodeClassifier("mlp", **QUICK).fit(graph, words, train=train, val=val)
    assert model.classes_.tolist() == ["blue", "green", "red"]
    assert set(model.predict()) <= {"red", "green", "blue"}
    assert model.score() == np.mean(model.predict()[test] == words[test])
    tens = NodeClassifier("mlp", **QUICK).fit(graph, graph.labels * 10.0, train=train, val=val)
    assert tens.classes_.tolist() == [0.0, 10.0, 20.0]


def test_without_validation_nodes_some_are_held_back(graph: Graph) -> None:
    model = NodeClassifier("mlp", **QUICK).fit(graph.to_scipy(), graph.labels, features=graph.features)
    train, val, test = model.split_
    assert len(val) == 24 and len(train) == 96 and len(test) == 0
    nobody = NodeClassifier("mlp", validation_fraction=0, **QUICK).fit(graph.to_scipy(), graph.labels, features=graph.features)
    assert len(nobody.split_[1]) == 0


def test_unknown_settings_name_the_right_ones() -> None:
    with pytest.raises(ValueError, match="did you mean `dropout`"):
        LHSClassifier(dropuot=0.3)
    with pytest.raises(ValueError, match="did you mean `training.epochs`"):
        NodeClassifier("gcn", training__epoch=3)
    with pytest.raises(ValueError, match="did you mean `gnnguard`"):
        NodeClassifier("gnguard")
    with pytest.raises(ValueError, match="give a whole number"):
        NodeClassifier("gcn", hidden=3.5)
    with pytest.raises(ValueError, match="out of range"):
        NodeClassifier("gcn", dropout=3)
    model = NodeClassifier("gcn")
    with pytest.raises(ValueError, match="did you mean `hidden`"):
        model.set_params(hiden=3)
    assert "hiden" not in model.get_params()
    assert model.set_params(hidden=8).get_params()["hidden"] == 8
    assert NodeClassifier("gcn", **{"training.epochs": 3}).get_params()["training__epochs"] == 3


def test_settings_of_numpy_are_numbers() -> None:
    assert lhs_graph.settings("gcn")["training__epochs"] > 0
    model = NodeClassifier("gcn", hidden=np.int64(8), dropout=np.float64(0.25))
    assert model.get_params()["hidden"] == 8


@pytest.mark.parametrize("name", ["lhs", "gcn"])
def test_models_can_be_kept(graph: Graph, tmp_path: Path, name: str) -> None:
    words = np.array(["red", "green", "blue"])[graph.labels]
    train, val, _ = graph.splits[0]
    model = NodeClassifier(name, **QUICK).fit(graph, words, train=train, val=val)
    model.save(tmp_path / "m.lhs")
    again = NodeClassifier.load(tmp_path / "m.lhs")
    assert type(again) is (LHSClassifier if name == "lhs" else NodeClassifier)
    assert again.get_params()["training__epochs"] == 8
    assert again.classes_.tolist() == ["blue", "green", "red"]
    assert np.array_equal(again.predict(graph), model.predict())
    assert np.array_equal(again.predict_proba(graph), model.predict_proba())
    with pytest.raises(ValueError, match="give the graph to predict on"):
        again.predict()
    unpickled = pickle.loads(pickle.dumps(model))
    assert np.array_equal(unpickled.predict_proba(graph), model.predict_proba())
    assert unpickled.classes_.tolist() == model.classes_.tolist()


def test_what_lhs_decided_is_said(graph: Graph) -> None:
    model = LHSClassifier(ensemble_size=1, **QUICK).fit(graph)
    assert model.summary_ and model.diagnostics_
    rounds = model.structure()
    assert rounds is not None and all(one.shape == (120, 120) for one in rounds)
    codes = model.embed()
    assert codes is not None and len(codes) == 120
    assert NodeClassifier("mlp", **QUICK).fit(graph).structure() is None


def test_other_graphs_can_be_predicted_on(graph: Graph) -> None:
    model = NodeClassifier("gcn", **QUICK).fit(graph)
    half = np.arange(60)
    part = graph.to_scipy()[half][:, half]
    assert model.predict_proba(part, features=graph.features[half]).shape == (60, 3)
    with pytest.raises(ValueError, match="trained on 12"):
        model.predict_proba(part, features=graph.features[half][:, :5])


def test_threads_change_nothing(graph: Graph) -> None:
    try:
        lhs_graph.set_num_threads(1)
        one = NodeClassifier("gcn", **QUICK).fit(graph).predict_proba()
        lhs_graph.set_num_threads(3)
        assert lhs_graph.num_threads() == 3
        assert np.array_equal(one, NodeClassifier("gcn", **QUICK).fit(graph).predict_proba())
        with pytest.raises(ValueError, match="from 1 to"):
            lhs_graph.set_num_threads(0)
    finally:
        lhs_graph.set_num_threads(None)


def test_seeds_matter(graph: Graph) -> None:
    first, same, other = (NodeClassifier("gcn", seed=seed, **QUICK).fit(graph).predict_proba() for seed in (3, 3, 4))
    assert np.array_equal(first, same) and not np.array_equal(first, other)
