"""Tables and pictures for notebooks, with nothing but the standard library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any


def shown(value: Any) -> str:
    """A value, short enough for a table."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def rows_as_html(rows: Sequence[dict[str, Any]], most: int = 60) -> str:
    """Records as a table of HTML."""
    if not rows:
        return "<p>nothing</p>"
    columns = list(rows[0])
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(shown(row.get(column)))}</td>" for column in columns) + "</tr>" for row in rows[:most])
    more = f"<p>and {len(rows) - most} more</p>" if len(rows) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def rows_as_frame(rows: Sequence[dict[str, Any]]) -> Any:
    """Records as a DataFrame."""
    try:
        import pandas
    except ImportError:
        raise ImportError("a frame is one of pandas\n  hint: pip install pandas, or look at .rows") from None
    return pandas.DataFrame(list(rows))


def axes(**keywords: Any) -> tuple[Any, Any]:
    """A figure of matplotlib, and its axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("a figure is one of matplotlib\n  hint: pip install matplotlib, or look at .rows") from None
    figure = Figure(layout="constrained", **{key: keywords.pop(key) for key in list(keywords) if key == "figsize"})
    return figure, figure.subplots(**keywords)


class Record(dict[str, Any]):
    """What was done, in numbers: a dictionary with a table of its own in notebooks."""

    def _repr_html_(self) -> str:
        return rows_as_html([{"": key, "value": len(value) if hasattr(value, "__len__") and not isinstance(value, str) else value} for key, value in self.items()])
