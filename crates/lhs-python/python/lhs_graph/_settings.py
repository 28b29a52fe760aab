"""Settings of models, structures and attacks: keywords of Python, tables of the library."""

from __future__ import annotations

import json
from typing import Any


def nested(settings: dict[str, Any]) -> str:
    """`training__epochs=30`, or `{"training.epochs": 30}`, as the JSON of `{"training": {"epochs": 30}}`."""
    table: dict[str, Any] = {}
    for key, value in settings.items():
        *groups, last = key.replace("__", ".").split(".")
        inner = table
        for group in groups:
            inner = inner.setdefault(group, {})
            if not isinstance(inner, dict):
                raise ValueError(f"setting `{key}`: `{group}` has a value and is a group of settings\n  hint: say one of the two")
        inner[last] = value
    return json.dumps(table, default=_plain)


def _plain(value: Any) -> Any:
    """Numbers of NumPy as numbers."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a setting cannot be a {type(value).__name__}\n  hint: give a number, a text, true or false, or a list")


def keywords(text: str) -> dict[str, Any]:
    """The JSON of nested settings as keywords."""
    return flat(json.loads(text))


def flat(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as keywords."""
    out: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict) and key != "class_weights":
            out.update(flat(value, f"{prefix}{key}__"))
        else:
            out[prefix + key] = value
    return out
