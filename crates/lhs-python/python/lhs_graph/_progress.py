"""How far work is, in terminals and notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Told = Callable[[str, int, "int | None", str], object]


def _is_watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


@contextmanager
def shown(wanted: bool | Told | None, what: str) -> Iterator[Told | None]:
    """What to call now and then: a bar, if somebody is there to see it; nothing; or what the user gave."""
    if callable(wanted):
        yield wanted
    elif wanted is False or (wanted is None and not _is_watched()):
        yield None
    else:
        bar = _bar(what)
        try:
            yield bar.tell
        finally:
            bar.close()


def _bar(what: str) -> _Tqdm | _Line:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(what)
    return _Tqdm(tqdm(desc=what, leave=False))


class _Tqdm:
    def __init__(self, bar: Any) -> None:
        self.bar, self.counted = bar, ""

    def tell(self, counted: str, done: int, of: int | None, remark: str) -> None:
        if counted != self.counted:
            self.counted = counted
            self.bar.reset(total=of)
            self.bar.unit = " epochs" if of is None else f" {counted}"
        self.bar.n = done
        self.bar.set_postfix_str(f"{counted} {remark}".strip())

    def close(self) -> None:
        self.bar.close()


class _Line:
    def __init__(self, what: str) -> None:
        self.what = what

    def tell(self, counted: str, done: int, of: int | None, remark: str) -> None:
        end = f" of {of}" if of is not None else ""
        print(f"\r\x1b[2K{self.what}: {counted} {done}{end} {remark}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
