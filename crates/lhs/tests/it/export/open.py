"""Opens the exports in a folder the way their users do and compares them with what went in.

The folder holds toy.graphml, toy.gexf, toy.csv, toy.nodes.csv, toy.npz and expected.json.
"""

import ast
import csv
import json
import math
import pathlib
import re
import struct
import sys
import zipfile

import networkx

FOLDER = pathlib.Path(sys.argv[1])
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
TYPES = {"text": str, "integer": int, "number": float}


def same(found, expected, what):
    if found != expected:
        sys.exit(f"{what}:\n     found {found!r}\n  expected {expected!r}")


def cleaned(text):
    """What XML can hold of a text."""
    return re.sub("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


def single(weight):
    """The 32-bit number that a weight stands for."""
    return struct.unpack("<f", struct.pack("<f", weight))[0]


def graph_of(clean):
    """The graph that went in, without missing values."""
    graph = networkx.Graph()
    for node in EXPECTED["nodes"]:
        values = {clean(name): value for name, value in node["values"].items() if value is not None}
        values = {name: clean(value) if isinstance(value, str) else value for name, value in values.items()}
        graph.add_node(clean(node["id"]), **values)
    ids = list(graph)
    for a, b, weight in EXPECTED["edges"]:
        graph.add_edge(ids[a], ids[b], weight=weight)
    return graph


def compare(found, expected, what):
    """Nodes in their order, attributes with their types, edges with their weights."""
    same(type(found), networkx.Graph, f"{what}: kind of graph")
    same(list(found), list(expected), f"{what}: nodes")
    for node, values in expected.nodes.items():
        same(found.nodes[node], values, f"{what}: attributes of {node!r}")
        types = {name: type(value) for name, value in found.nodes[node].items()}
        same(types, {name: type(value) for name, value in values.items()}, f"{what}: types of {node!r}")
    same(found.number_of_edges(), expected.number_of_edges(), f"{what}: number of edges")
    for a, b, weight in expected.edges(data="weight"):
        same(type(found.edges[a, b]["weight"]), float, f"{what}: type of weights")
        same(single(found.edges[a, b]["weight"]), weight, f"{what}: weight of {a!r} and {b!r}")


def open_graphml():
    compare(networkx.read_graphml(FOLDER / "toy.graphml"), graph_of(cleaned), "graphml")
    text = (FOLDER / "toy.graphml").read_text(encoding="utf-8")
    same('<graph id="a &lt;toy&gt;"' in text, True, "graphml: id of the graph")


def open_gexf():
    found = networkx.read_gexf(FOLDER / "toy.gexf")
    colours = {}
    for node, values in found.nodes.items():
        same(values.pop("label"), node, "gexf: label")
        colour = values.pop("viz")["color"]
        known = colours.setdefault(values.get("class"), colour)
        same(colour, known, f"gexf: colour of {node!r}")
    distinct = {tuple(colour.values()) for colour in colours.values()}
    same(len(distinct), EXPECTED["classes"] + 1, "gexf: number of colours")
    for _, _, values in found.edges(data=True):
        values.pop("id")
    compare(found, graph_of(cleaned), "gexf")


def open_csv():
    def rows(name):
        with open(FOLDER / name, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, strict=True))

    same(list(rows("toy.csv")[0]), ["source", "target", "weight"], "csv: header of the edges")
    same(list(rows("toy.nodes.csv")[0]), ["id", *EXPECTED["types"]], "csv: header of the nodes")
    found = networkx.Graph()
    for row in rows("toy.nodes.csv"):
        identity = row.pop("id")
        present = {name: value for name, value in row.items() if value != ""}
        values = {name: TYPES[EXPECTED["types"][name]](value) for name, value in present.items()}
        found.add_node(identity, **values)
    for row in rows("toy.csv"):
        found.add_edge(row["source"], row["target"], weight=float(row["weight"]))
    expected = graph_of(str)
    for _, values in expected.nodes(data=True):
        # A table cannot tell an empty text from a missing one.
        for name in [name for name, value in values.items() if value == ""]:
            del values[name]
    compare(found, expected, "csv")


def arrays_by_hand():
    """The arrays as (type, shape, values), for when there is no NumPy."""
    arrays = {}
    with zipfile.ZipFile(FOLDER / "toy.npz") as archive:
        for member in archive.namelist():
            data = archive.read(member)
            same(data[:8], b"\x93NUMPY\x01\x00", f"npz: start of {member}")
            (length,) = struct.unpack("<H", data[8:10])
            header = ast.literal_eval(data[10 : 10 + length].decode("latin1"))
            kind = header["descr"]
            code = {"<i8": "q", "<f4": "f", "<f8": "d", "|u1": "B"}[kind]
            values = [value for (value,) in struct.iter_unpack("<" + code, data[10 + length :])]
            same(len(values), math.prod(header["shape"]), f"npz: size of {member}")
            arrays[member.removesuffix(".npy")] = (kind, header["shape"], values)
    return arrays


def arrays_by_numpy(numpy):
    with numpy.load(FOLDER / "toy.npz", allow_pickle=False) as archive:
        items = [(name, archive[name]) for name in archive.files]
    return {name: (array.dtype.str, array.shape, array.ravel().tolist()) for name, array in items}


def check_npz(arrays):
    nodes, edges = EXPECTED["nodes"], EXPECTED["edges"]

    def texts(member):
        return json.loads(bytes(arrays[member][2]))

    def values(member, kind):
        same(arrays[member][:2], (kind, (len(nodes),)), f"npz: {member}")
        return arrays[member][2]

    ends = [end for edge in edges for end in edge[:2]]
    same(arrays["edges"], ("<i8", (len(edges), 2), ends), "npz: edges")
    same(arrays["edge_weights"], ("<f4", (len(edges),), [edge[2] for edge in edges]), "npz: edge_weights")
    same(texts("node_ids"), [node["id"] for node in nodes], "npz: node_ids")
    same(arrays["node_features"][:2], ("<f4", (len(nodes), 0)), "npz: node_features")
    for name, kind in EXPECTED["types"].items():
        expected = [node["values"][name] for node in nodes]
        if kind == "integer":
            found = values(f"node_{name}", "<i8")
        elif kind == "number":
            found = [None if math.isnan(n) else n for n in values(f"node_{name}", "<f8")]
        else:
            names = [*texts(f"names_{name}"), None]
            found = [names[number] for number in values(f"node_{name}", "<i8")]
        same(found, expected, f"npz: node_{name}")
    names = [*texts("class_names"), None]
    labels = [names[number] for number in values("node_labels", "<i8")]
    same(labels, [node["values"]["class"] for node in nodes], "npz: node_labels")


def open_npz():
    check_npz(arrays_by_hand())
    try:
        import numpy
    except ImportError:
        print("without NumPy: toy.npz was read by hand only")
    else:
        check_npz(arrays_by_numpy(numpy))


open_graphml()
open_gexf()
open_csv()
open_npz()
