"""What the extension offers the modules beside it. Use `lhs_graph`, not this."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Data",
    "Fitted",
    "Inducer",
    "__version__",
    "attack",
    "attack_settings",
    "attacks_known",
    "audit",
    "certify",
    "explain",
    "fetch",
    "found",
    "is_fetched",
    "load",
    "main",
    "model_settings",
    "models_known",
    "num_threads",
    "public_graphs",
    "read_suite",
    "run_suite",
    "save",
    "set_num_threads",
    "suites",
    "synth",
]
__version__: str

_Floats = NDArray[np.float32]
_Numbers = NDArray[np.int64]
_Csr = tuple[_Numbers, NDArray[np.int32], _Floats]
_CsrIn = tuple[_Numbers, _Numbers, _Floats, int]
_Parts = tuple[list[int], list[int], list[int]]
_Progress = Callable[[str, int, int | None, str], object] | None

@final
class Data:
    def __new__(
        cls,
        name: str,
        num_nodes: int,
        sources: _Numbers,
        targets: _Numbers,
        *,
        weights: _Floats | None = None,
        directed: bool = False,
        dense: _Floats | None = None,
        sparse: _CsrIn | None = None,
        labels: tuple[_Numbers, list[str]] | None = None,
        node_ids: list[str] | None = None,
        feature_names: list[str] | None = None,
    ) -> Data: ...
    def with_labels(self, codes: _Numbers, names: list[str]) -> Data: ...
    def with_splits(self, splits: list[_Parts]) -> Data: ...
    @property
    def name(self) -> str: ...
    @property
    def num_nodes(self) -> int: ...
    @property
    def num_edges(self) -> int: ...
    @property
    def num_features(self) -> int: ...
    @property
    def directed(self) -> bool: ...
    @property
    def weighted(self) -> bool: ...
    @property
    def node_ids(self) -> list[str] | None: ...
    @property
    def class_names(self) -> list[str]: ...
    @property
    def feature_names(self) -> list[str] | None: ...
    @property
    def warnings(self) -> list[str]: ...
    def labels(self) -> _Numbers: ...
    def splits(self) -> list[_Parts]: ...
    def adjacency(self) -> _Csr: ...
    def features(self) -> _Floats | _Csr: ...

@final
class Fitted:
    @staticmethod
    def fit(
        name: str,
        settings: str,
        data: Data,
        parts: _Parts,
        seed: int = 0,
        split: int = 0,
        progress: _Progress = None,
    ) -> tuple[Fitted, str]: ...
    def predict(self, data: Data) -> _Floats: ...
    def embeddings(self, data: Data) -> _Floats | None: ...
    def structure(self, data: Data) -> list[_Csr] | None: ...
    def summary(self) -> list[str]: ...
    def diagnostics(self) -> list[str]: ...
    @property
    def name(self) -> str: ...
    def settings(self) -> str: ...
    def save(self, path: str | PathLike[str], about: str) -> None: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> tuple[Fitted, str]: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(contents: bytes) -> Fitted: ...

@final
class Inducer:
    @staticmethod
    def fit(
        settings: str, data: Data, parts: _Parts, seed: int = 0, split: int = 0, progress: _Progress = None
    ) -> tuple[Inducer, list[_Csr]]: ...
    def apply(self, data: Data) -> list[_Csr]: ...
    @staticmethod
    def settings(given: str) -> str: ...
    def diagnostics(self) -> list[str]: ...

def main(args: list[str]) -> int: ...
def num_threads() -> int: ...
def set_num_threads(number: int | None = None) -> None: ...
def model_settings(name: str, given: str) -> str: ...
def models_known() -> str: ...
def found(data: Data, name: str) -> str: ...
def attack(
    name: str,
    settings: str,
    data: Data,
    parts: _Parts,
    *,
    victim: Fitted | None = None,
    seed: int = 0,
    split: int = 0,
    progress: _Progress = None,
) -> tuple[Data, str, _Numbers, _Numbers, list[int]]: ...
def attack_settings(name: str, given: str) -> str: ...
def attacks_known() -> str: ...
def audit(
    versions: Sequence[tuple[str, Data, _Parts]],
    *,
    model: Fitted | None = None,
    classes: list[str] = ...,
    hops: int = 4,
    bins: int = 10,
) -> str: ...
def certify(
    name: str,
    settings: str,
    data: Data,
    parts: _Parts,
    *,
    on: Data | None = None,
    buckets: int = 11,
    poisoning: bool = False,
    seed: int = 0,
    split: int = 0,
    progress: _Progress = None,
) -> str: ...
def explain(
    model: Fitted,
    data: Data,
    node: int,
    *,
    classes: list[str],
    learned_from: tuple[list[int], list[int]],
    top: int = 10,
    progress: _Progress = None,
) -> str: ...
def load(source: str | PathLike[str], *, directed: bool = False, prepare: str = "{}") -> Data: ...
def save(data: Data, path: str | PathLike[str]) -> None: ...
def fetch(name: str, folder: str | PathLike[str] | None = None, mirror: str | None = None) -> Any: ...
def public_graphs() -> list[str]: ...
def is_fetched(name: str) -> bool: ...
def synth(config: str, seed: int = 0) -> Data: ...
def run_suite(
    suite: str,
    name: str,
    *,
    data: Sequence[Data] = ...,
    out: str | PathLike[str] | None = None,
    only: str | None = None,
    progress: _Progress = None,
) -> str: ...
def read_suite(text: str, file: str | PathLike[str]) -> str: ...
def suites() -> list[tuple[str, str]]: ...
