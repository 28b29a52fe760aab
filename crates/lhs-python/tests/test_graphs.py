"""Graphs from anywhere, and back."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from lhs_graph import Graph, NodeClassifier, datasets

EDGES = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
CYCLE = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]], dtype=float)


def same(one: Graph, other: Graph) -> bool:
    return (one.to_scipy() != other.to_scipy()).nnz == 0 and one.num_nodes == other.num_nodes


def test_arrays_and_matrices_are_the_same_graph() -> None:
    wanted = Graph(EDGES)
    assert (wanted.num_nodes, wanted.num_edges) == (4, 4)
    both = np.hstack([EDGES, EDGES[::-1]])
    forms = [both, CYCLE, sp.csr_matrix(CYCLE), sp.coo_matrix(CYCLE), sp.csc_array(CYCLE), EDGES.astype(np.int32), EDGES.tolist(), (EDGES[0], EDGES[1])]
    for form in forms:
        assert same(Graph(form), wanted)
    assert same(Graph(EDGES[:, ::-1].copy()[:, ::-1]), wanted)
    weighted = Graph(sp.csr_matrix(CYCLE * 2))
    assert weighted.edge_weight is not None and (weighted.edge_weight == 2).all()
    assert Graph(EDGES, num_nodes=6).num_nodes == 6
    assert Graph(EDGES, features=np.eye(5)).num_nodes == 5
    assert Graph(np.empty((2, 0), dtype=np.int64), features=np.eye(3)).num_edges == 0


def test_direction_is_kept_if_asked_for_and_remarked_upon_if_there() -> None:
    with pytest.warns(UserWarning, match="2 of 4 edges lead one way only"):
        assert Graph(np.array([[0, 1, 1, 2], [1, 0, 2, 3]])).num_edges == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not Graph(EDGES).directed
        assert not Graph(np.array([[0, 1, 1, 2], [1, 0, 2, 3]]), directed=False).directed
        directed = Graph(np.array([[0, 1, 1, 2], [1, 0, 2, 3]]), directed=True)
    assert directed.directed and directed.num_edges == 4
    assert directed.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 3]]


def test_features_dense_and_sparse() -> None:
    dense = Graph(EDGES, features=np.arange(8.0).reshape(4, 2) + 1)
    assert dense.features.dtype == np.float32 and not dense.features.flags.writeable
    sparse = Graph(EDGES, features=sp.csr_matrix(np.eye(4, 30)))
    assert sp.issparse(sparse.features) and (sparse.features.toarray() == np.eye(4, 30)).all()
    # Entries that stand twice are added, as SciPy has it.
    twice = sp.csr_matrix((np.ones(3), np.array([1, 1, 0]), np.array([0, 2, 3, 3, 3])), shape=(4, 40))
    assert Graph(EDGES, features=twice).features.toarray()[0, 1] == 2
    # Features outlive their graph.
    kept = dense.features
    del dense
    assert kept[3, 1] == 8


def test_pickles_come_back(graph: Graph) -> None:
    again = pickle.loads(pickle.dumps(graph))
    assert same(again, graph) and np.array_equal(again.features, graph.features)
    assert np.array_equal(again.labels, graph.labels) and repr(again) == repr(graph)
    words = Graph(EDGES, labels=["a", None, "b", "b"], node_ids=list("wxyz"), weights=[1, 2, 3, 4.0], directed=True)
    again = pickle.loads(pickle.dumps(words))
    assert again.labels.tolist() == ["a", None, "b", "b"] and again.node_ids == list("wxyz")
    assert again.edge_weight is not None and again.edge_weight.tolist() == [1, 2, 3, 4]


def test_networkx_both_ways() -> None:
    networkx = pytest.importorskip("networkx")
    made = networkx.Graph()
    made.add_node("a", kind="x", age=1.0, size=2.0)
    made.add_node("b", kind="y", age=2.0, size=3.0)
    made.add_node("c", age=3.0, size=4.0)
    made.add_edge("a", "b", weight=2.0)
    made.add_edge("b", "c")
    graph = Graph(made, features=["age", "size"], labels="kind")
    assert graph.node_ids == ["a", "b", "c"] and graph.labels.tolist() == ["x", "y", None]
    assert graph.features.tolist() == [[1, 2], [2, 3], [3, 4]]
    back = graph.to_networkx()
    assert back.nodes["a"] == {"label": "x"} and back.edges["b", "a"] == {"weight": 2.0} and back.edges["b", "c"] == {"weight": 1.0}
    assert same(Graph(networkx.karate_club_graph()), Graph(networkx.to_scipy_sparse_array(networkx.karate_club_graph())))
    assert Graph(networkx.DiGraph([(0, 1)]), directed=True).to_networkx().is_directed()


def test_tables_are_matched_by_id() -> None:
    pandas = pytest.importorskip("pandas")
    edges = pandas.DataFrame({"source": ["b", "a"], "target": ["c", "b"], "weight": [2.0, 1.0]})
    features = pandas.DataFrame({"age": [3.0, 1.0, 2.0]}, index=["c", "a", "b"])
    labels = pandas.Series(["x", "y"], index=["a", "b"])
    graph = Graph(edges, features=features, labels=labels)
    assert graph.node_ids == ["c", "a", "b"] and graph.labels.tolist() == [None, "x", "y"]
    assert graph.feature_names == ["age"] and graph.features[:, 0].tolist() == [3, 1, 2]
    assert graph.to_scipy()[2, 0] == 2 and graph.to_scipy()[1, 2] == 1
    back, nodes = graph.to_pandas()
    assert set(map(tuple, back[["source", "target"]].to_numpy())) == {("c", "b"), ("a", "b")}
    assert nodes.loc["b"].tolist() == ["y", 2.0]
    assert Graph(edges).node_ids == ["b", "a", "c"]
    with pytest.raises(ValueError, match="names the node 'c'"):
        Graph(edges, features=features.loc[["a", "b"]])


def test_deeprobust_by_what_it_looks_like(graph: Graph) -> None:
    train, val, test = graph.splits[0]
    data = SimpleNamespace(
        name="cora", adj=graph.to_scipy(), features=sp.csr_matrix(graph.features), labels=graph.labels, idx_train=train, idx_val=val, idx_test=test
    )
    found = Graph(data)
    assert same(found, graph) and found.name == "cora" and len(found.splits) == 1
    attacked = SimpleNamespace(adj=graph.to_scipy())
    assert np.array_equal(
        NodeClassifier("gcn", training__epochs=5).fit(attacked, data.labels, features=graph.features, train=train, val=val).predict(),
        NodeClassifier("gcn", training__epochs=5).fit(data).predict(),
    )


def test_dgl_by_what_it_looks_like() -> None:
    known = {"feat": np.eye(4), "label": np.array([0, 1, 0, 1]), "train_mask": np.array([True, True, False, False])}
    graph = SimpleNamespace(ndata=known, edata={}, edges=lambda: (EDGES[0], EDGES[1]), num_nodes=lambda: 4)
    found = Graph(graph)
    assert found.num_nodes == 4 and found.num_features == 4 and found.splits[0][0].tolist() == [0, 1]


def test_pyg_by_what_it_looks_like(graph: Graph) -> None:
    masks = np.zeros((120, 2), dtype=bool)
    masks[:60] = True
    data = SimpleNamespace(edge_index=graph.edge_index, num_nodes=120, x=graph.features, y=graph.labels, train_mask=masks, val_mask=~masks, test_mask=None)
    found = Graph(data)
    assert same(found, graph) and len(found.splits) == 2
    with pytest.raises(ValueError, match="no edge_index"):
        Graph(SimpleNamespace(edge_index=None, num_nodes=3))


def test_pyg_for_real(graph: Graph) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    data = graph.to_pyg()
    assert data.num_nodes == 120 and data.is_undirected() and int(data.train_mask.sum()) == len(graph.splits[0][0])
    found = Graph(data)
    assert same(found, graph) and np.array_equal(found.features, graph.features)
    first = NodeClassifier("gcn", training__epochs=5).fit(data)
    assert np.array_equal(first.predict_proba(data), NodeClassifier("gcn", training__epochs=5).fit(graph).predict_proba())
    assert same(Graph(torch.from_numpy(EDGES)), Graph(EDGES))
    weighted = Graph(EDGES, weights=[1, 2, 3, 4], directed=True).to_pyg()
    assert weighted.edge_weight.tolist() == [1, 2, 3, 4]


def test_cora_of_pyg_in_three_lines(public: Path) -> None:
    pytest.importorskip("torch_geometric")
    from lhs_graph import LHSClassifier

    data: Any = datasets.load(public / "cora.npz").to_pyg()
    model = LHSClassifier(training__epochs=5, ensemble_size=1, structure__rounds=0).fit(data)
    probabilities = model.predict_proba(data)
    assert probabilities.shape == (2708, 7)


def test_files_come_back(graph: Graph, tmp_path: Path) -> None:
    graph.save(tmp_path / "g.npz")
    again = datasets.load(tmp_path / "g.npz", scale="none")
    assert same(again, graph) and np.array_equal(again.features, graph.features) and len(again.splits) == 2
    graph.save(tmp_path / "tables")
    assert same(datasets.load(tmp_path / "tables", scale="none"), graph)
    named = Graph(str(tmp_path / "g.npz"), name="mine")
    assert same(named, graph) and named.name == "mine" and len(named.splits) == 2
    assert NodeClassifier("mlp", training__epochs=2).fit(tmp_path / "g.npz").predict().shape == (120,)


def test_public_graphs_by_name(public: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LHS_CACHE", str(public))
    texas = datasets.load("texas")
    assert (texas.num_nodes, len(texas.splits)) == (183, 10)
    assert "texas" in datasets.names()


def test_a_graph_is_a_graph(graph: Graph) -> None:
    words = np.array(["a", "b", "c"])[graph.labels]
    other = Graph(graph, labels=words)
    assert same(other, graph) and other.classes.tolist() == ["a", "b", "c"] and len(other.splits) == 2
    assert np.array_equal(other.features, graph.features)
    wider = Graph(Graph(EDGES, labels=[0, 1, 0, 1], directed=True, weights=[1, 2, 3, 4]), features=np.eye(4, 3))
    assert wider.directed and wider.num_features == 3 and wider.edge_weight is not None and wider.edge_weight.tolist() == [1, 2, 3, 4]


def test_float32_rows_are_read_where_they_are() -> None:
    features = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    assert np.shares_memory(Graph(EDGES, features=features).features, features)
    assert not np.shares_memory(Graph(EDGES, features=np.asfortranarray(features)).features, features)


MEMORY = """
import re, numpy as np
from lhs_graph import Graph

def resident(key):
    return int(re.search(key + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024

features = np.ones((400_000, 128), dtype=np.float32)
edges = np.stack([np.arange(400_000), np.arange(400_000)[::-1]])
before = resident("VmRSS")
graph = Graph(edges, features=features, directed=False)
print(resident("VmHWM") - before < 0.3 * features.nbytes / 2**20)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux says how much memory is used")
def test_large_arrays_take_no_more_memory() -> None:
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True", done.stderr
