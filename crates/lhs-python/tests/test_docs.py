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


def test_stubs_are_those_of_the_extension() -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "--ignore-disjoint-bases", "lhs_graph._lhs"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_nothing_is_imported_that_was_not_asked_for() -> None:
    script = "import sys, lhs_graph; print({'scipy', 'torch', 'pandas', 'sklearn', 'networkx', 'matplotlib', 'tqdm'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "set()"


def test_the_page_of_the_package_is_that_of_its_docstrings() -> None:
    import api_page

    assert api_page.PAGE.read_text(encoding="utf-8") == api_page.page(), "run: python crates/lhs-python/tests/api_page.py"
    named = {name for _, names in api_page.PARTS for name in names}
    assert named | {"__version__", "datasets"} == set(lhs_graph.__all__)


BOOK = Path(__file__).parents[3] / "book/src/python"


def fences(page: Path) -> list[str]:
    """The Python of a page that is to be run."""
    pieces = page.read_text(encoding="utf-8").split("```")[1::2]
    return [piece.removeprefix("python\n") for piece in pieces if piece.startswith("python\n")]


@pytest.mark.parametrize("page", sorted(page.name for page in BOOK.glob("*.md")))
def test_snippets_of_the_book_run(page: str) -> None:
    snippets = fences(BOOK / page)
    if any("to_pyg" in snippet or "torch" in snippet for snippet in snippets):
        pytest.importorskip("torch_geometric")
    pytest.importorskip("sklearn")
    names: dict[str, object] = {}
    for snippet in snippets:
        exec(compile(snippet, page, "exec"), names)  # noqa: S102


def test_the_tour_can_be_walked() -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    tour = nbformat.read(Path(__file__).parent.parent / "tour.ipynb", as_version=4)
    nbclient.NotebookClient(tour, timeout=120, kernel_name="python3").execute()
    shown = [output for cell in tour.cells if cell.cell_type == "code" for output in cell.outputs]
    assert sum("text/html" in output.get("data", {}) for output in shown) >= 5
