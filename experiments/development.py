#!/usr/bin/env python3
"""Makes development copies of graphs: designs are judged on these, so that the official test nodes decide nothing.

Training nodes stay; of the validation nodes of each split, every second one (in a fixed random order) becomes a test node; official
test nodes are in no part. Needs NumPy.
Usage: experiments/development.py FOLDER_OF_GRAPHS OUT [GRAPH…]     (default: all .npz files of the folder)
"""

import pathlib
import sys

import numpy


def main() -> None:
    source, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    names = sys.argv[3:] or sorted(path.stem for path in source.glob("*.npz"))
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        with numpy.load(source / f"{name}.npz") as archive:
            arrays = dict(archive)
        order = numpy.random.default_rng(0).permutation(len(arrays["node_labels"]))
        second = numpy.zeros(len(order), bool)
        for val, test in zip(arrays["val_masks"], arrays["test_masks"]):
            held = order[val[order]][1::2]
            second[:] = False
            second[held] = True
            test[:] = second
            val &= ~second
        numpy.savez_compressed(out / f"{name}.npz", **arrays)


main()
