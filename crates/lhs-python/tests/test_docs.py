"""The examples in docstrings are run, the stubs fit, the pages of the book are those of the docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import lhs_graph

MODULES = ["lhs_graph", *(f"lhs_graph.{one.name}" for one in pkgutil.iter_modules(lhs_graph.__path__) if one.name not in ("_lhs", "__main__"))]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


def test_types_hold() -> None:
    pytest.importorskip("mypy")
    here = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", here / "pyproject.toml"], capture_output=True, text=True, check=False, cwd=here)
    assert done.returncode == 0, done.stdout


def test_nothing_is_imported_that_was_not_asked_for() -> None:
    script = "import sys, lhs_graph; print({'scipy', 'torch', 'pandas', 'sklearn', 'networkx', 'matplotlib', 'tqdm'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "set()"
