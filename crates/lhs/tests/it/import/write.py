"""Writes one small graph into a folder, in every format that other tools have."""

import json
import pathlib
import sys

import networkx
import numpy
import scipy.io
import scipy.sparse

FOLDER = pathlib.Path(sys.argv[1])
NODES = ["a&b", "日本", "c", "d <e>"]
EDGES = [(0, 1, 0.5), (1, 2, 2.0), (2, 3, 0.25)]
AGES = [31, 58, -2, 7]
SHARES = [0.5, 0.0, 1e-3, 4.0]
CLASSES = ["chess", "rowing", "chess", "rowing"]


def graph(kind):
    made = kind()
    for name, age, share, own in zip(NODES, AGES, SHARES, CLASSES):
        made.add_node(name, age=age, share=share, known=age > 0, town="Ulm", **{"class": own})
    for a, b, weight in EDGES:
        made.add_edge(NODES[a], NODES[b], weight=weight)
    return made


plain = graph(networkx.Graph)
networkx.write_graphml_xml(plain, FOLDER / "plain.graphml")
networkx.write_graphml_xml(plain, FOLDER / "packed.graphml.gz")
networkx.write_gexf(plain, FOLDER / "plain.gexf")
networkx.write_graphml_xml(graph(networkx.DiGraph), FOLDER / "directed.graphml")
networkx.write_gexf(graph(networkx.DiGraph), FOLDER / "directed.gexf")
several = graph(networkx.MultiGraph)
several.add_edge(NODES[0], NODES[1], weight=1.5)
networkx.write_graphml_xml(several, FOLDER / "several.graphml")
networkx.write_gexf(several, FOLDER / "several.gexf")
for name, made in {"plain": plain, "directed": graph(networkx.DiGraph), "several": several}.items():
    for edges in ["links", "edges"]:
        text = json.dumps(networkx.node_link_data(made, edges=edges))
        (FOLDER / f"{name}.{edges}.json").write_text(text, encoding="utf-8")

matrix = networkx.to_scipy_sparse_array(plain, format="csr")
scipy.io.mmwrite(FOLDER / "matrix.mtx", scipy.sparse.coo_array(matrix))
scipy.io.mmwrite(FOLDER / "pattern.mtx", scipy.sparse.coo_array(matrix), field="pattern")
for form in ["csr", "csc", "coo"]:
    scipy.sparse.save_npz(FOLDER / f"scipy-{form}.npz", matrix.asformat(form))

features = scipy.sparse.csr_matrix(numpy.array([AGES, SHARES]).T)
labels = numpy.array([0, 1, 0, 1])
# As DeepRobust's and Nettack's archives are: names are objects.
numpy.savez(
    FOLDER / "deeprobust.npz",
    adj_data=matrix.data, adj_indices=matrix.indices, adj_indptr=matrix.indptr, adj_shape=matrix.shape,
    attr_data=features.data, attr_indices=features.indices, attr_indptr=features.indptr, attr_shape=features.shape,
    labels=labels,
    node_names=numpy.array(NODES, dtype=object),
    attr_names=numpy.array(["age", "share"]),
    class_names=numpy.array(["chess", "rowing"], dtype=object),
)
ends = numpy.array([(a, b) for a, b, _ in EDGES] + [(b, a) for a, b, _ in EDGES]).T
masks = numpy.eye(4, dtype=bool)
numpy.savez_compressed(
    FOLDER / "geometric.npz",
    x=features.toarray().astype("float32"), edge_index=ends, edge_weight=numpy.array([e[2] for e in EDGES * 2]), y=labels,
    train_mask=masks[0], val_mask=masks[1], test_mask=masks[2] | masks[3],
)
