"""The command that the wheel carries, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import lhs
from lhs_graph import Graph, NodeClassifier, __version__


def test_the_command_is_the_command_line(graph: Graph, tmp_path: Path) -> None:
    assert lhs("--version").stdout.strip() == f"lhs {__version__}"
    assert "tip: a similar" in lhs("trian", code=2).stderr
    graph.save(tmp_path / "g.npz")
    run = tmp_path / "run"
    lhs("train", tmp_path / "g.npz", "--model", "mlp", "--set", "training.epochs=2", "--split", 0, "--out", run)
    assert f'"command": "lhs train {tmp_path}' in (run / "manifest.json").read_text()
    module = subprocess.run([sys.executable, "-m", "lhs_graph", "--version"], capture_output=True, text=True, check=True)
    assert module.stdout.strip() == f"lhs {__version__}"


@pytest.mark.skipif(os.name == "nt", reason="signals are those of Unix")
def test_ctrl_c_stops_the_command(graph: Graph, tmp_path: Path) -> None:
    graph.save(tmp_path / "g.npz")
    command = [Path(sys.executable).with_name("lhs"), "train", "g.npz", "--model", "gcn", "--out", "run", "--split", "0"]
    slow = ["--set", "training.epochs=10000000", "--set", "training.patience=10000000"]
    with subprocess.Popen([*command, *slow], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "--resume goes on from there" in said


SCRIPT = """
import signal, sys, threading, time
from lhs_graph import NodeClassifier, datasets, attack

graph = datasets.synth(nodes=400, seed=1)
threading.Timer(1.0, signal.raise_signal, [signal.SIGINT]).start()
ticks = []
beating = threading.Thread(target=lambda: [ticks.append(time.sleep(0.01)) for _ in range(60)])
beating.start()
started = time.monotonic()
try:
    NodeClassifier("gcn", training__epochs=10_000_000, training__patience=10_000_000).fit(graph)
except KeyboardInterrupt:
    took = time.monotonic() - started
    print("stopped", took < 20, len(ticks) > 20)
print(NodeClassifier("gcn", training__epochs=2).fit(graph).predict().shape)
"""


def test_ctrl_c_stops_training_and_other_threads_run_on() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines() == ["stopped True True", "(400,)"], done.stderr


FORKED = """
import os
from lhs_graph import NodeClassifier, datasets

graph = datasets.synth(nodes=200, seed=1)
first = NodeClassifier("gcn", training__epochs=3).fit(graph).predict_proba()
child = os.fork()
if child == 0:
    again = NodeClassifier("gcn", training__epochs=3).fit(graph).predict_proba()
    os._exit(0 if (again == first).all() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_computes_too() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.strip() == "0", done.stderr


ENDLESS = {"training__epochs": 10_000_000, "training__patience": 10_000_000}


def test_progress_is_told_and_may_stop_the_work(graph: Graph) -> None:
    told: list[tuple[str, int, int | None, str]] = []

    def enough(*news: object) -> None:
        told.append(news)  # type: ignore[arg-type]
        if len(told) == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        NodeClassifier("gcn", progress=enough, **ENDLESS).fit(graph)
    assert {news[0] for news in told} == {"classifier"} and told[0][1] < told[1][1] < told[2][1]
    assert told[0][3].startswith("validation ")


def test_progress_is_shown(graph: Graph, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    slow = {"training__epochs": 5000, "training__patience": 5000}
    NodeClassifier("gcn", progress=True, **slow).fit(graph)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    NodeClassifier("gcn", progress=True, **slow).fit(graph)
    assert "gcn: classifier" in capfd.readouterr().err
    NodeClassifier("gcn", **slow).fit(graph)
    assert capfd.readouterr().err == ""
