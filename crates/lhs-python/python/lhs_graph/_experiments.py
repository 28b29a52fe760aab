"""Suites of experiments, and pages of what came out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from . import _lhs
from ._display import rows_as_frame, rows_as_html
from ._graph import as_graph
from ._progress import Told, shown


class Bench:
    """What came out of a suite."""

    def __init__(self, found: dict[str, Any]) -> None:
        #: Everything, as `lhs bench --json` has it.
        self.document = found

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One record per data, attack, model and variant: means and deviations over its cells, in percent."""
        rows: list[dict[str, Any]] = self.document["rows"]
        return rows

    @property
    def frame(self) -> Any:
        """The same as a DataFrame."""
        return rows_as_frame(self.rows)

    @property
    def markdown(self) -> str:
        """A table of models by data, in Markdown."""
        return str(self.document["markdown"])

    def __repr__(self) -> str:
        return f"{self.document['title']}\n{self.document['plain']}"

    def _repr_html_(self) -> str:
        return f"<b>{escape(self.document['title'])}</b>{rows_as_html(self.rows)}"


def bench(
    suite: str | os.PathLike[str] | dict[str, Any],
    graphs: dict[str, Any] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    only: str | None = None,
    progress: bool | Told | None = None,
) -> Bench:
    """Runs a suite: datasets × splits × models × attacks × rates × seeds × settings.

    `suite` is the name of one that comes with lhs, a file, or a dictionary of what such a file says. `graphs`, by name, take the place of its
    datasets; each needs splits. With `out`, a folder, every finished cell is kept, and the same call goes on where it was stopped.

    >>> from lhs_graph import bench, datasets
    >>> graph = datasets.synth(nodes=120, classes=3, splits=2, seed=1)
    >>> suite = {"title": "two models", "models": ["mlp", "gcn"], "settings": {name: {"training": {"epochs": 5}} for name in ("mlp", "gcn")}}
    >>> found = bench(suite, {"made-up": graph})
    >>> [(row["model"], row["cells"]) for row in found.rows]
    [('mlp', 2), ('gcn', 2)]
    """
    named = {name: as_graph(graph) for name, graph in (graphs or {}).items()}
    data = []
    for name, graph in named.items():
        if not graph.splits:
            raise ValueError(f"the graph {name!r} has no splits\n  hint: give it train, val and test nodes")
        data.append(as_graph(graph, name=name)._data.with_splits([tuple(part.tolist() for part in split) for split in graph.splits]))
    if isinstance(suite, dict):
        title, text = "suite", json.dumps({"title": "suite", "datasets": list(named), **suite})
    else:
        title, text = _suite(os.fspath(suite))
        if named:
            text = json.dumps({**json.loads(text), "datasets": list(named)})
    with shown(progress, title) as told:
        return Bench(json.loads(_lhs.run_suite(text, title, data=data, out=out, only=only, progress=told)))


def _suite(name: str) -> tuple[str, str]:
    """The name of a suite and, as JSON, what it says."""
    path = Path(name)
    if path.is_file():
        return path.stem, _lhs.read_suite(path.read_text(encoding="utf-8"), name)
    known = dict(_lhs.suites())
    if name not in known:
        raise FileNotFoundError(f"{name}: there is no such suite\n  hint: give a suite file, or one of: {', '.join(known)}")
    return name, _lhs.read_suite(known[name], name)


class Report:
    """Results as one page that opens offline."""

    def __init__(self, html: str) -> None:
        #: The page.
        self.html = html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html)}" style="width: 100%; height: 40em; border: 0"></iframe>'


def report(*folders: str | os.PathLike[str], split: int | None = None) -> Report:
    """A page of what `bench`, `lhs train` or `lhs certify` have left in folders: tables, figures, a closer look at single models.

    >>> import tempfile
    >>> from lhs_graph import bench, datasets, report
    >>> folder = tempfile.mkdtemp()
    >>> suite = {"title": "one model", "models": ["mlp"], "settings": {"mlp": {"training": {"epochs": 5}}}}
    >>> found = bench(suite, {"made-up": datasets.synth(nodes=120, splits=1, seed=1)}, out=folder)
    >>> "one model" in report(folder).html
    True
    """
    with tempfile.TemporaryDirectory() as temporary:
        page = Path(temporary) / "report.html"
        command = [sys.executable, "-m", "lhs_graph", "report", *(os.fspath(folder) for folder in folders), "--out", str(page), "--quiet"]
        command += [] if split is None else ["--split", str(split)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ValueError(done.stderr.strip().removeprefix("error: "))
        return Report(page.read_text(encoding="utf-8"))


def suites() -> Sequence[str]:
    """The suites that come with lhs."""
    return [name for name, _ in _lhs.suites()]
