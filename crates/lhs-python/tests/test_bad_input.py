"""Whatever comes in: exceptions of the right class, with the words of the library, and an interpreter that goes on."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from lhs_graph import Graph, NodeClassifier, StructureInducer, attack, audit, bench, certify, datasets, explain

EDGES = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
X = np.eye(4, dtype=np.float32) + 1
Y = np.array([0, 1, 0, 1])


def fit(edges: Any = EDGES, y: Any = Y, features: Any = X, **keywords: Any) -> NodeClassifier:
    return NodeClassifier("gcn", training__epochs=2).fit(edges, y, features=features, **{"train": [0, 1], "val": [2], **keywords})


WRONG = [
    ({"features": X[:3]}, ValueError, "num_nodes = 3|rows of features"),
    ({"features": np.vstack([X, X])}, ValueError, "labels for 8 nodes|4 labels"),
    ({"features": X[0]}, ValueError, "1 dimension"),
    ({"features": X.astype(complex)}, TypeError, "complex"),
    ({"features": np.array([["a"] * 2] * 4, dtype=object)}, TypeError, "not numbers"),
    ({"features": np.array([["a"] * 2] * 4)}, TypeError, "<U1"),
    ({"features": np.where(X == 2, np.nan, X)}, ValueError, "feature 0 of node 0 is NaN"),
    ({"features": np.where(X == 2, np.inf, X)}, ValueError, "feature 0 of node 0 is inf"),
    ({"features": X.astype(np.float64) * 1e300}, ValueError, "is inf"),
    ({"edges": EDGES - 1}, ValueError, "node -1 out of range"),
    ({"edges": EDGES + 1}, ValueError, "node 4 out of range"),
    ({"edges": EDGES * 2**40}, ValueError, "out of range"),
    ({"edges": EDGES * 1.5}, TypeError, "float64"),
    ({"edges": EDGES.T}, ValueError, "edges.T"),
    ({"edges": np.zeros((3, 5))}, ValueError, "is no graph"),
    ({"edges": sp.csr_matrix(np.zeros((3, 4)))}, ValueError, "square"),
    ({"edges": -sp.eye_array(4, k=1).tocsr()}, ValueError, "not a positive finite number"),
    ({"edges": object()}, TypeError, "no graph that can be read: builtins.object"),
    ({"y": Y[:3]}, ValueError, "3 labels"),
    ({"y": Y + 0.5}, ValueError, "fractions"),
    ({"y": Y * 1j}, TypeError, "complex"),
    ({"y": np.eye(4)}, ValueError, "2 dimensions"),
    ({"y": np.array([0, "b", 0, "b"], dtype=object)}, TypeError, "several types"),
    ({"y": [object()] * 4}, TypeError, "neither numbers nor words"),
    ({"y": np.zeros(4, dtype=int)}, ValueError, "same class"),
    ({"y": np.full(4, -1)}, ValueError, "no node has a label"),
    ({"y": np.array([0, -1, 0, 1])}, ValueError, "train node 1 has no label"),
    ({"train": [0, 1], "val": [1]}, ValueError, "node 1 is in train and in val"),
    ({"train": []}, ValueError, "train part of the split is empty"),
    ({"train": np.zeros(4, dtype=bool)}, ValueError, "train part of the split is empty"),
    ({"train": np.ones(3, dtype=bool)}, ValueError, "3 entries for 4 nodes"),
    ({"train": [0, 7]}, ValueError, "train node 7 out of range"),
    ({"train": [0, -1]}, ValueError, "train node -1 out of range"),
    ({"train": [0.5]}, TypeError, "`train` is of type float64"),
    ({"train": np.ones((4, 2), dtype=bool)}, ValueError, "2 dimensions"),
]


@pytest.mark.parametrize(("wrong", "kind", "words"), WRONG)
@pytest.mark.filterwarnings("ignore:overflow")
def test_mistakes_are_named(wrong: dict[str, Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        fit(**wrong)


def test_what_is_only_unusual_is_taken() -> None:
    wanted = fit().predict_proba()
    read_only = X.copy()
    read_only.flags.writeable = False
    for features in (np.asfortranarray(X), read_only, X.astype(np.float64), np.repeat(X, 2, axis=0)[::2], X.astype(int), X[:, ::-1][:, ::-1]):
        assert np.array_equal(fit(features=features).predict_proba(), wanted)
    assert np.array_equal(fit(edges=np.asfortranarray(EDGES)).predict_proba(), wanted)
    assert fit(y=["a", "b", "a", "b"]).classes_.tolist() == ["a", "b"]
    assert np.array_equal(fit(y=Y.astype(float)).predict_proba(), wanted)
    assert np.array_equal(fit(y=np.array([[0], [1], [0], [1]])).predict_proba(), wanted)


def test_a_damaged_sparse_matrix_is_refused() -> None:
    damaged = sp.csr_matrix(np.eye(4))
    damaged.indices = damaged.indices + 9
    damaged.has_canonical_format = True
    with pytest.raises(ValueError, match="column 9 out of range"):
        fit(features=damaged)
    damaged = sp.csr_matrix(np.eye(4))
    damaged.indptr = damaged.indptr[::-1].copy()
    damaged.has_canonical_format = True
    with pytest.raises(ValueError, match="do not follow one another"):
        fit(features=damaged)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such dataset"):
        datasets.load(tmp_path / "nothing.npz")
    with pytest.raises(FileNotFoundError):
        NodeClassifier.load(tmp_path / "nothing.lhs")
    (tmp_path / "broken.lhs").write_bytes(b"not a model")
    with pytest.raises(ValueError, match="damaged"):
        NodeClassifier.load(tmp_path / "broken.lhs")
    with pytest.raises(OSError):
        fit().save(tmp_path / "no" / "folder" / "m.lhs")


def test_other_functions_name_mistakes_too(graph: Graph) -> None:
    with pytest.raises(ValueError, match="did you mean `metattack`"):
        attack("metatack", graph)
    with pytest.raises(ValueError, match="did you mean `keep`"):
        attack("injected", graph, kep=0.5)
    with pytest.raises(ValueError, match="out of range"):
        attack("injected", graph, rate=-1)
    with pytest.raises(ValueError, match="worst of several attacks"):
        attack("worst", graph)
    with pytest.raises(ValueError, match="there is no split 7"):
        attack("injected", graph, split=7)
    with pytest.raises(ValueError, match="did you mean `rounds`"):
        StructureInducer(round=3)
    with pytest.raises(ValueError, match="out of range"):
        audit(graph, hops=99)
    with pytest.raises(ValueError, match="buckets"):
        certify(graph, model="gcn", buckets=1)
    model = NodeClassifier("mlp", training__epochs=2).fit(graph)
    with pytest.raises(ValueError, match="has no node `500`"):
        explain(model, 500)
    with pytest.raises(ValueError, match="nodes"):
        audit(graph, against={"other": Graph(EDGES, features=X, labels=Y)})
    with pytest.raises(ValueError, match="no model `gnc`"):
        bench({"title": "slip", "models": ["gnc"]}, {"made-up": graph})
    with pytest.raises(ValueError, match="unknown field `modls`"):
        bench({"title": "slip", "modls": ["gcn"]}, {"made-up": graph})
    with pytest.raises(ValueError, match="test node 3 has no label"):
        attack("random", EDGES, X, [0, 1, 0, -1], train=[0], val=[1], test=[3])
    with pytest.raises((ValueError, AttributeError), match="has not learned yet"):
        NodeClassifier("mlp").predict(graph)
    with pytest.raises(ValueError, match="0 nodes for 5 classes"):
        datasets.synth(nodes=0)


def test_numbers_out_of_range(graph: Graph) -> None:
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match="seed .* out of range"):
            NodeClassifier("mlp", seed=seed).fit(graph)
        with pytest.raises(ValueError, match="seed .* out of range"):
            datasets.synth(seed)
    assert NodeClassifier("mlp", seed=2**64 - 1, training__epochs=2).fit(graph).predict().shape == (120,)
    with pytest.raises(TypeError, match="whole number"):
        NodeClassifier("mlp", seed=0.5).fit(graph)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="split -1 is out of range"):
        NodeClassifier("mlp").fit(graph, split=-1)
    with pytest.raises(ValueError, match="buckets -1"):
        certify(graph, buckets=-1)
    for count in (-1, 2**40):
        with pytest.raises(ValueError, match="num_nodes .* out of range"):
            Graph(EDGES, num_nodes=count)
    with pytest.raises(ValueError, match="numbers up to 2147483648"):
        Graph(np.array([[0], [2**31]]))
    with pytest.raises(ValueError, match="memory|fit"):
        NodeClassifier("gcn", hidden=10**9).fit(graph)


def test_threads_may_call_at_once(graph: Graph) -> None:
    model = NodeClassifier("gcn", training__epochs=30)
    results: list[Any] = []

    def work(place: int) -> None:
        try:
            results.append(model.fit(graph).predict_proba() if place % 2 else NodeClassifier("mlp", training__epochs=30).fit(graph).predict())
        except Exception as error:  # noqa: BLE001
            results.append(error)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not [one for one in results if isinstance(one, Exception)]
    probabilities = [one for one in results if one.ndim == 2]
    assert all(np.array_equal(one, probabilities[0]) for one in probabilities)


@pytest.mark.filterwarnings("ignore:.*lead one way only")
def test_whatever_comes_in_only_exceptions_of_those_kinds_come_out() -> None:
    draw = np.random.RandomState(0)
    kinds = ["float32", "float64", "int8", "int64", "uint64", "bool", "complex64", "U3", "object", "datetime64[s]"]

    def anything() -> Any:
        shape = [(), (0,), (4,), (2, 4), (4, 2), (4, 4), (4, 0), (0, 4), (2, 0), (4, 2, 2)][draw.randint(10)]
        made = np.asarray(draw.randint(-2, 7, size=shape) * [1, 1, 1, 0.5, np.nan][draw.randint(5)], dtype=np.float64)
        with np.errstate(invalid="ignore"):
            made = made.astype(kinds[draw.randint(len(kinds))])
        return [made, made[::-1] if shape else made, made.tolist(), None, sp.csr_matrix(np.eye(4)), "word", 3, {}][draw.randint(8) if draw.rand() < 0.3 else 0]

    learned = 0
    for _ in range(1500):
        given = {"edges": EDGES, "y": Y, "features": X, "train": [0, 1], "val": [2]}
        for key in draw.choice(list(given), size=1 + draw.randint(2), replace=False):
            given[key] = anything()
        try:
            fit(**given)
            learned += 1
        except (ValueError, TypeError, FileNotFoundError):
            pass
    assert 50 < learned < 1450
