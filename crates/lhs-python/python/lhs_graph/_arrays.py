"""Arrays as the extension wants them, from whatever holds numbers, with errors that say what to do."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


def array(values: Any) -> NDArray[Any]:
    """The array in a tensor, a series or a list; no copy where there is an array already."""
    if hasattr(values, "detach") and hasattr(values, "cpu"):  # PyTorch
        values = values.detach()
        values = (values.to_dense() if getattr(values, "is_sparse", False) else values).cpu().numpy()
    elif hasattr(values, "to_numpy"):  # pandas
        values = values.to_numpy()
    return np.asarray(values)


def whole(value: Any, what: str, most: int = 2**64 - 1) -> int:
    """A whole number that is not negative."""
    try:
        found = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is a {type(value).__name__}\n  hint: give a whole number") from None
    if not 0 <= found <= most:
        raise ValueError(f"{what} {found} is out of range\n  hint: choose a whole number from 0 to {most}")
    return found


def is_sparse(values: Any) -> bool:
    """Whether this is a sparse matrix of SciPy."""
    return hasattr(values, "tocsr") and hasattr(values, "nnz")


def floats(values: Any, what: str) -> Floats:
    """Numbers, one row after the other; no copy of a float32 array in that order."""
    found = array(values)
    if found.dtype.kind == "O":
        try:
            found = found.astype(np.float32)
        except (TypeError, ValueError):
            raise TypeError(
                f"the {what} hold things that are not numbers\n  hint: give numbers; words, times and gaps of tables are read by "
                "`lhs_graph.datasets.load`"
            ) from None
    if found.dtype.kind not in "fiub":
        raise TypeError(f"the {what} are of type {found.dtype}\n  hint: give real numbers, such as float32")
    return np.ascontiguousarray(found, dtype=np.float32)


def features(values: Any) -> dict[str, Any]:
    """Features for the extension: `dense=` or `sparse=`."""
    if is_sparse(values):
        return {"sparse": _csr(values)}
    found = floats(values, "features")
    if found.ndim != 2:
        raise ValueError(
            f"the features have {found.ndim} dimension{'s' if found.ndim != 1 else ''}\n  hint: give a matrix with one row per node; "
            "Reshape your data, such as by X.reshape(-1, 1)"
        )
    return {"dense": found}


def _csr(matrix: Any) -> tuple[Numbers, Numbers, Floats, int]:
    if np.dtype(matrix.dtype).kind not in "fiub":
        raise TypeError(f"the features are of type {matrix.dtype}\n  hint: give real numbers, such as float32")
    matrix = matrix.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return (
        np.ascontiguousarray(matrix.indptr, dtype=np.int64),
        np.ascontiguousarray(matrix.indices, dtype=np.int64),
        np.ascontiguousarray(matrix.data, dtype=np.float32),
        int(matrix.shape[1]),
    )


def node_set(which: Any, num_nodes: int, what: str) -> Numbers | None:
    """Nodes by a mask or by their numbers, as numbers."""
    if which is None:
        return None
    found = array(which)
    if found.ndim != 1:
        raise ValueError(f"`{what}` has {found.ndim} dimensions\n  hint: give a mask of the nodes, or their numbers")
    if found.dtype.kind == "b":
        if len(found) != num_nodes:
            raise ValueError(f"the mask `{what}` has {len(found)} entries for {num_nodes} nodes\n  hint: give one entry per node")
        return np.flatnonzero(found).astype(np.int64)
    if found.size == 0:
        return np.empty(0, dtype=np.int64)
    if found.dtype.kind not in "iu":
        raise TypeError(f"`{what}` is of type {found.dtype}\n  hint: give a mask of booleans, or numbers of nodes")
    return found.astype(np.int64)


def labels(values: Any) -> tuple[Numbers, NDArray[Any], NDArray[Any]]:
    """The class of each node by its number, -1 where it is not known; the classes; and the labels as they were given.

    Negative numbers, NaN and None mean that a class is not known.
    """
    found = array(values)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise ValueError(f"the labels have {found.ndim} dimensions\n  hint: give one class per node; of one-hot rows, their argmax")
    kind = found.dtype.kind
    if kind == "f":
        known = ~np.isnan(found)
        if not np.array_equal(found[known], np.floor(found[known])) or np.isinf(found).any():
            raise ValueError("Unknown label type: the labels are fractions\n  hint: classes are whole numbers or words; continuous targets are not supported")
        known &= ~(found < 0)
    elif kind in "iu":
        known = found >= 0
    elif kind in "bUS":
        known = np.ones(len(found), dtype=bool)
    elif kind == "O":
        known = np.array([label is not None and label == label for label in found], dtype=bool)
        kinds = {type(label) for label in found[known]}
        if not all(issubclass(kind, (str, int, np.integer, np.bool_)) for kind in kinds):
            return labels(_as_numbers(found, known))
        found = found.copy()
        found[~known] = None
    else:
        raise TypeError(f"the labels are of type {found.dtype}\n  hint: give whole numbers or words")
    codes = np.full(len(found), -1, dtype=np.int64)
    try:
        classes, codes[known] = np.unique(found[known], return_inverse=True)
    except TypeError:
        raise TypeError("the labels are of several types\n  hint: give whole numbers or words, not both") from None
    return codes, classes, found


def _as_numbers(found: NDArray[Any], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    numbers = np.full(len(found), np.nan)
    try:
        numbers[known] = found[known].astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError("the labels are neither numbers nor words\n  hint: give whole numbers or words") from None
    return numbers


def class_names(classes: NDArray[Any]) -> list[str]:
    """What classes are called in files and tables."""
    whole = classes.dtype.kind == "f"
    return [str(int(one)) if whole else str(one) for one in classes.tolist()]
