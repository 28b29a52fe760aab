"""Writes the page of the book about the package from its docstrings: `python tests/api_page.py`. A test says whether it was run."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import lhs_graph
from lhs_graph import datasets

PAGE = Path(__file__).parents[3] / "book/src/python/api.md"

#: What the page holds, in order.
PARTS: list[tuple[str, list[str]]] = [
    ("Models", ["NodeClassifier", "LHSClassifier", "StructureInducer", "to_edge_index"]),
    ("Graphs", ["Graph"]),
    ("Attacks and judgements", ["attack", "audit", "certify", "explain", "Audit", "Certificate", "Explanation"]),
    ("Experiments", ["bench", "report", "Bench", "Report", "suites"]),
    ("What there is", ["models", "attacks", "settings", "found_settings", "num_threads", "set_num_threads"]),
]

HEAD = """# The Python package

Everything that `import lhs_graph` offers, from its docstrings; `python crates/lhs-python/tests/api_page.py` writes this page, and a test runs the examples.
[From Python](README.md) says how it goes together.
"""


def signature(thing: Any, name: str) -> str:
    """How it is called, without types, which stubs have."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return f"{name}(…)"
    plain = [
        one.replace(annotation=inspect.Parameter.empty) for one in found.parameters.values() if one.name not in ("self", "cls")
    ]
    return f"{name}{found.replace(parameters=plain, return_annotation=inspect.Signature.empty)}"


def prose(text: str | None) -> str:
    """A docstring as Markdown: its examples in fences."""
    out, example = [], False
    for line in inspect.cleandoc(text or "").splitlines():
        begins = line.startswith(">>> ")
        if begins and not example:
            out.append("```pycon")
            example = True
        elif example and not line.strip():
            out.append("```")
            example = False
        out.append(line)
    return "\n".join([*out, "```"] if example else out)


def described(thing: Any, name: str) -> str:
    """A function, or a class with its methods."""
    lines = [f"### {name}\n", f"```python,ignore\n{signature(thing, name)}\n```\n", prose(thing.__doc__), ""]
    if inspect.isclass(thing):
        for key, own in members(thing):
            lines.append(f"- `{signature(own, key) if callable(own) else key}` — {one_line(own)}")
        lines.append("")
    return "\n".join(lines)


def members(thing: type) -> list[tuple[str, Any]]:
    """The public methods and properties of a class itself, in the order of its text."""
    found = []
    for key, own in vars(thing).items():
        own = own.__func__ if isinstance(own, (staticmethod, classmethod)) else own
        if not key.startswith("_") and (inspect.isfunction(own) or isinstance(own, property)):
            found.append((key, own))
    return found


def one_line(own: Any) -> str:
    """The docstring of a method, in one line."""
    return " ".join(inspect.cleandoc(own.__doc__ or "").split())


def page() -> str:
    """The page."""
    text = [HEAD]
    for title, names in PARTS:
        text.append(f"## {title}\n")
        text += [described(getattr(lhs_graph, name), name) for name in names]
    text.append("## Data\n")
    text += [described(getattr(datasets, name), f"datasets.{name}") for name in datasets.__all__]
    return "\n".join(text).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE, file=sys.stderr)
