"""Same seed, same bits as the command line: every model, every attack, the structure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import lhs_graph
from lhs_graph import Graph, LHSClassifier, NodeClassifier, StructureInducer, attack, datasets

from conftest import lhs

SEED = 5


@pytest.fixture(scope="module")
def data(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("parity") / "made-up.npz"
    graph.save(path)
    return path


def few_epochs(name: str) -> dict[str, Any]:
    """Every number of epochs, cut short."""
    known = lhs_graph.settings(name)
    return {key: 4 for key, value in known.items() if key.endswith("epochs") and isinstance(value, int) and value > 4}


def as_flags(settings: dict[str, Any]) -> list[str]:
    return [word for key, value in settings.items() for word in ("--set", f"{key.replace('__', '.')}={value}")]


def probabilities(run: Path, split: int, graph: Graph) -> np.ndarray[Any, Any]:
    """What the model of a run says, to the last bit: its file, asked here."""
    return NodeClassifier.load(run / f"split-{split}" / "model.lhs").predict_proba(graph)


# Every split has a seed of its own, which is the same for all models.
@pytest.mark.parametrize(("name", "split"), [*((model["name"], 0) for model in lhs_graph.models()), ("lhs", 1), ("gcn", 1)])
def test_models(name: str, split: int, data: Path, tmp_path: Path) -> None:
    graph, settings = datasets.load(data), few_epochs(name)
    run = tmp_path / "run"
    lhs("train", data, "--model", name, "--split", split, "--seed", SEED, "--out", run, "--no-config", *as_flags(settings))
    here = NodeClassifier(name, seed=SEED, **settings).fit(graph, split=split)
    ours = here.predict_proba()
    assert np.array_equal(ours, probabilities(run, split, graph)), name
    # And the table that the command line writes says the same.
    rows = (run / f"split-{split}" / "predictions.csv").read_text().splitlines()
    header, first = rows[0].split(","), rows[1].split(",")
    written = np.array(first[-len(graph.classes) :], dtype=np.float32)
    assert np.allclose(written, ours[0], atol=1e-5), header
    curve = [json.loads(line) for line in (run / f"split-{split}" / "curve.jsonl").read_text().splitlines()]
    assert curve == here.curve_, "the course of training"


@pytest.mark.parametrize("name", [attack["name"] for attack in lhs_graph.attacks()])
def test_attacks(name: str, data: Path, tmp_path: Path) -> None:
    graph = datasets.load(data)
    rate = min(lhs_graph.settings(name)["rate"], 0.3)
    if name == "worst":
        lhs("attack", name, data, "--out", tmp_path / "a.npz", code=2)
        with pytest.raises(ValueError, match="worst of several"):
            attack(name, graph, rate=rate)
        return
    cut = {key: 3 for key in lhs_graph.settings(name) if key in ("steps", "epochs", "generations", "retrainings")}
    attacked, record = attack(name, graph, rate=rate, seed=SEED, split=1, **cut)
    out = tmp_path / "a.npz"
    done = lhs("attack", name, data, "--rate", rate, "--seed", SEED, "--split", 1, "--out", out, "--json", *as_flags(cut))
    said = json.loads(done.stdout)
    assert said["added"] == record["added"].tolist() and said["removed"] == record["removed"].tolist()
    keys = ("edges_added", "edges_removed", "feature_rows_changed", "test_nodes", "budget", "heterophily_before", "heterophily_after")
    assert {key: said[key] for key in keys} == {key: record[key] for key in keys}
    written = datasets.load(out, scale="none")
    assert (written.to_scipy() != attacked.to_scipy()).nnz == 0
    assert np.array_equal(written.features, attacked.features)
    assert written.splits[1][2].tolist() == attacked.splits[0][2].tolist()


def test_the_structure(data: Path, tmp_path: Path) -> None:
    graph = datasets.load(data)
    own = {"rounds": 2, "rounds_must_pay": False, "refiner__epochs": 4}
    of_model = {f"structure__{key}": value for key, value in own.items()}
    # Weighed edges are the model's own affair.
    settings = {"training__epochs": 4, "trust": 0.0, "ensemble_size": 1, **of_model}
    run = tmp_path / "run"
    flags = [flag.replace("False", "false") for flag in as_flags(settings)]
    lhs("train", data, "--split", 0, "--seed", SEED, "--out", run, "--no-config", *flags)
    inducer = StructureInducer(seed=SEED, **own).fit(graph)
    model = LHSClassifier(seed=SEED, **settings).fit(graph)
    rounds = model.structure()
    assert rounds is not None and len(rounds) == len(inducer.rounds_) == 3
    for number, found in enumerate(inducer.rounds_):
        out = tmp_path / f"{number}.npz"
        lhs("structure", run, "--split", 0, "--round", number, "--export", out)
        with np.load(out) as written:
            of_command = adjacency(written, graph.num_nodes)
        assert (of_command != found).nnz == 0, number
        assert (rounds[number] != found).nnz == 0, number


def adjacency(written: Any, nodes: int) -> Any:
    names = set(written.files)
    edges, weights = written["edges"], written[next(name for name in ("weights", "edge_weights") if name in names)]
    one = sp.coo_matrix((weights, (edges[:, 0], edges[:, 1])), shape=(nodes, nodes)).tocsr()
    return one if (one != one.T).nnz == 0 else one + one.T


def test_certificates_and_audits(data: Path) -> None:
    graph = datasets.load(data)
    flags = ["--model", "gcn", "--split", 1, "--seed", SEED, "--buckets", 3, "--set", "training.epochs=4", "--json"]
    said = json.loads(lhs("certify", data, *flags).stdout)
    here = lhs_graph.certify(graph, model="gcn", buckets=3, seed=SEED, split=1, training__epochs=4)
    assert said["per_node"] == here.nodes and said["certified_accuracy"] == here.curves["certified_accuracy"]
    said = json.loads(lhs("audit", data, "--split", 1, "--json").stdout)
    assert said["samples"] == lhs_graph.audit(graph, split=1).document["samples"]
