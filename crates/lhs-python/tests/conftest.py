"""What the tests share: a small graph, the public graphs, and the command line beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lhs_graph import Graph, datasets


@pytest.fixture(scope="session")
def graph() -> Graph:
    """A made-up graph of 120 nodes with two splits."""
    return datasets.synth(nodes=120, classes=3, mean_degree=6, homophily=0.3, features=12, signal=2.0, splits=2, seed=7)


@pytest.fixture(scope="session")
def public() -> Path:
    """The folder of the public graphs."""
    folder = os.environ.get("LHS_DATA")
    if not folder:
        pytest.skip("LHS_DATA does not say where the public graphs are")
    return Path(folder)


def lhs(*args: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """The command that the wheel carries."""
    command = Path(sys.executable).with_name("lhs")
    done = subprocess.run([command, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done
