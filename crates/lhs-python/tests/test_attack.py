"""Attacks, structure, audit, certificates, explanations, suites, pages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lhs_graph
from lhs_graph import Graph, LHSClassifier, NodeClassifier, StructureInducer, attack, audit, bench, certify, explain, report, to_edge_index

QUICK = {"training__epochs": 8}


def test_an_attack_returns_a_graph_and_a_record(graph: Graph) -> None:
    attacked, record = attack("injected", graph, rate=1)
    assert attacked.num_edges == graph.num_edges + record["edges_added"]
    assert len(record["added"]) == record["edges_added"]
    assert all(attacked.to_scipy()[a, b] and not graph.to_scipy()[a, b] for a, b in record["added"])
    assert [part.tolist() for part in attacked.splits[0]] == [part.tolist() for part in graph.splits[0]]
    assert "edges_added" in record._repr_html_()
    nothing, record = attack("injected", graph, rate=0)
    assert record["edges_added"] == 0 and (nothing.to_scipy() != graph.to_scipy()).nnz == 0
    # From arrays, the same.
    train, val, test = graph.splits[0]
    again, _ = attack("injected", graph.to_scipy(), graph.features, graph.labels, rate=1, train=train, val=val, test=test)
    assert (again.to_scipy() != attacked.to_scipy()).nnz == 0
    assert lhs_graph.settings("injected")["rate"] == 1


def test_a_victim_is_asked(graph: Graph) -> None:
    victim = NodeClassifier("gcn", **QUICK).fit(graph)
    attacked, record = attack("adaptive", graph, rate=0.1, victim=victim)
    assert record["edges_added"] + record["edges_removed"] <= record["budget"]
    assert victim.score(attacked) <= victim.score(graph)


def test_structures_come_round_by_round(graph: Graph) -> None:
    train, val, _ = graph.splits[0]
    quick = {"refiner__epochs": 4, "rounds_must_pay": False}
    inducer = StructureInducer(rounds=2, **quick)
    latent = inducer.fit_transform(graph.to_scipy(), graph.features, graph.labels, train, val)
    assert len(inducer.rounds_) == 3 and latent is inducer.rounds_[-1]
    assert latent.shape == (120, 120) and abs(latent - latent.T).max() == 0 and latent.data.min() > 0
    assert (inducer.transform(graph) != latent).nnz == 0
    assert inducer.transform(attack("injected", graph)[0]).shape == (120, 120)
    edge_index, edge_weight = to_edge_index(latent)
    assert edge_index.shape == (2, latent.nnz) and edge_weight.dtype == np.float32
    assert inducer.set_params(rounds=0).get_params()["rounds"] == 0
    assert inducer.diagnostics_ and "refiner__epochs" in inducer.settings_


def test_audits(graph: Graph) -> None:
    attacked, _ = attack("injected", graph, rate=2)
    model = LHSClassifier(ensemble_size=1, **QUICK).fit(graph)
    found = audit(graph, against={"attacked": attacked}, model=model, hops=2, bins=5)
    assert {row["data"] for row in found.rows} == {"clean", "attacked"}
    assert found.document["accuracy"][0]["data"] == "clean"
    assert "<table>" in found._repr_html_()
    pytest.importorskip("pandas")
    assert len(found.frame) == len(found.rows)
    pytest.importorskip("matplotlib")
    assert len(found.figure().axes) == 2


def test_certificates(graph: Graph) -> None:
    found = certify(graph, model="gcn", buckets=5, **QUICK)
    assert found.radii.shape == (120,) and found.radii.max() <= 2
    assert found.rows[0]["certified"] == found.curves["vote_accuracy"]
    assert certify(graph, model=NodeClassifier("gcn", **QUICK), buckets=5).curves == found.curves
    pytest.importorskip("matplotlib")
    assert found.figure().axes


def test_explanations(graph: Graph) -> None:
    named = lhs_graph.Graph(graph.to_scipy(), features=graph.features, labels=graph.labels, node_ids=[f"n{node}" for node in range(120)])
    model = NodeClassifier("gcn", **QUICK).fit(named)
    found = explain(model, "n3")
    assert found["node"] == "n3" and found["prediction"] == str(model.predict()[3])
    assert found["probability"] == pytest.approx(model.predict_proba()[3].max(), abs=1e-6)
    assert "node n3" in repr(found) and "n3" in found._repr_html_()


def test_suites_go_on_where_they_were(graph: Graph, tmp_path: Path) -> None:
    suite = {
        "title": "small",
        "models": ["mlp", "gcn"],
        "found_settings": False,
        "settings": {name: {"training": {"epochs": 3}} for name in ("mlp", "gcn")},
        "attacks": [{"name": "injected", "rates": [1.0]}],
    }
    found = bench(suite, {"made-up": graph}, out=tmp_path / "b")
    assert found.document["cells"] == 8 and found.document["failed"] == 0
    again = bench(suite, {"made-up": graph}, out=tmp_path / "b")
    assert again.document["known"] == 8 and again.rows == found.rows
    assert "made-up" in found.markdown and "small" in repr(found) and "<table>" in found._repr_html_()
    page = report(tmp_path / "b")
    page.save(tmp_path / "r.html")
    assert "small" in page.html and (tmp_path / "r.html").exists() and "iframe" in page._repr_html_()
    with pytest.raises(ValueError):
        report(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError, match="no such suite"):
        bench("nothing")
    assert "clean" in lhs_graph.suites()
