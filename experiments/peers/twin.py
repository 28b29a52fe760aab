"""LHS as a good PyTorch user would write it, for `lhs_twin.sh`: one split, one member, no refinement; prints one JSON document.

The same method as `lhs train` with the settings of `lhs_twin.sh`: principal directions of features and adjacency profiles, the closed-form
self-expression as a diagonal plus a low rank, its leading eigenpairs by products alone, the five nearest neighbours in tiles, an encoder with
channels of its own for both graphs, and a masked autoencoder beside it. Sparse matrices are CSR with a product written by hand; nothing is
N x N. What `lhs` does beyond that (measuring the vote of the neighbours, closed-form judges of the channels) is left out, in the twin's favour.
Every clock starts after Python and PyTorch are loaded.

Usage: twin.py DATA.npz [--threads 2] [--split 0] [--epochs 200] [--seed 0] [--compile]
       --compile   dropout, cosine error and cross-entropy through torch.compile: shorter epochs, but 200 do not earn what compiling costs
"""

import argparse
import json
import resource
import time
import warnings

import numpy as np
import scipy.sparse
import torch
import torch.nn.functional as F

from sparse import Csr

COMPONENTS, RIDGE, DIRECTIONS_PER_CLASS, TOP_K, THRESHOLD = 128, 0.7, 8, 5, 0.5
HIDDEN, DECODED, HOPS, LEARNING_RATE = 64, 32, 2, 0.01
INPUT_DROPOUT, DROPOUT, CHANNEL_DROPOUT = 0.5, 0.6, 0.2
MASK, EXPONENT, WEIGHT = 0.5, 2.0, 0.5
TILE, ITERATIONS = 1024, 8


class Graph:
    """What is in a file: features and adjacency as SciPy CSR, labels, one split."""

    def __init__(self, path, split):
        with np.load(path) as data:
            self.features = scipy.sparse.csr_matrix(data["node_features"].astype(np.float32))
            self.labels, edges = torch.tensor(data["node_labels"]), data["edges"]
            parts = (np.flatnonzero(data[f"{part}_masks"][split]) for part in ("train", "val", "test"))
            self.train, self.val, self.test = (torch.tensor(part) for part in parts)
        self.nodes, self.classes = len(self.labels), int(self.labels.max()) + 1
        edges = edges[edges[:, 0] != edges[:, 1]]
        ends = np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0)
        ones = np.ones(len(ends), np.float32)
        self.adjacency = scipy.sparse.csr_matrix((ones, (ends[:, 0], ends[:, 1])), shape=(self.nodes, self.nodes))


def scaled_rows(matrix):
    """Every row scaled to sum 1; rows of zeros stay."""
    sums = np.asarray(abs(matrix).sum(1)).ravel()
    return (scipy.sparse.diags_array(1 / np.maximum(sums, 1e-12)).astype(np.float32) @ matrix).tocsr()


def with_loops(matrix):
    """D^-1/2 (S + I) D^-1/2."""
    matrix = matrix + scipy.sparse.eye_array(matrix.shape[0], dtype=np.float32)
    scale = scipy.sparse.diags_array(1 / np.sqrt(np.asarray(matrix.sum(1)).ravel())).astype(np.float32)
    return (scale @ matrix @ scale).tocsr()


def neighbour_rows(adjacency):
    """A neighbour that few have says more."""
    degrees = np.maximum(np.asarray(adjacency.sum(0)).ravel(), 1)
    return (adjacency @ scipy.sparse.diags_array(degrees**-0.25).astype(np.float32)).tocsr()


def differentiable(matrix):
    """A SciPy CSR matrix as one with a product that can be differentiated."""
    entries = matrix.tocoo()
    return Csr(entries.row, entries.col, entries.data, matrix.shape)


def view(matrix):
    """Unit rows of a sparse matrix in its leading principal directions."""
    parts = (torch.tensor(part) for part in (matrix.indptr, matrix.indices, matrix.data))
    as_torch = torch.sparse_csr_tensor(*parts, matrix.shape)
    rank = min(COMPONENTS, *matrix.shape)
    # As exact as is needed, and faster than SciPy's svds; a few more columns than are kept.
    _, _, directions = torch.svd_lowrank(as_torch, q=min(rank + 16, *matrix.shape), niter=4)
    return F.normalize(as_torch @ directions[:, :rank].contiguous())


def node_directions(rows, rank):
    """Unit rows whose dot products are the low-rank part of the self-expression of `rows`."""
    double = rows.double()
    gram = double.T @ double
    gram.diagonal().add_(RIDGE)
    factor = torch.linalg.cholesky(gram)
    whitened = torch.linalg.solve_triangular(factor, double.T, upper=False).T
    leverage = whitened.square().sum(1).float()
    whitened, scale = whitened.float().contiguous(), 1 / (1 - leverage)

    def apply(block):
        plain, scaled = (whitened @ (whitened.T @ torch.cat([block, scale[:, None] * block], 1))).chunk(2, 1)
        return 0.5 * (scale[:, None] * plain + scaled) - (leverage * scale)[:, None] * block

    # Subspace iteration: on these matrices several times faster than SciPy's eigsh, and as good for the latent graph.
    basis = torch.randn(len(rows), min(rank + 16, len(rows)))
    for _ in range(ITERATIONS):
        basis = torch.linalg.qr(apply(basis)).Q
    values, rotation = torch.linalg.eigh(basis.T @ apply(basis))
    leading = values.abs().topk(rank).indices
    values, vectors = values[leading], basis @ rotation[:, leading]
    scaled = vectors * (values.sign() / values.abs().sqrt())
    return F.normalize(rows @ torch.cholesky_solve(double.T @ scaled.double(), factor).float())


def nearest(directions):
    """Each node with its nearest by cosine, in tiles, and both ways."""
    rows, cols, weights = [], [], []
    for first in range(0, len(directions), TILE):
        tile = directions[first : first + TILE] @ directions.T
        tile[torch.arange(len(tile)), torch.arange(first, first + len(tile))] = -1
        best, who = tile.topk(min(TOP_K, len(directions) - 1))
        keep = best >= THRESHOLD
        rows.append((torch.arange(first, first + len(tile))[:, None].expand_as(who))[keep])
        cols.append(who[keep])
        weights.append(best[keep])
    rows, cols, weights = (torch.cat(parts).numpy() for parts in (rows, cols, weights))
    found = scipy.sparse.csr_matrix((np.minimum(weights, 1), (rows, cols)), shape=(len(directions),) * 2)
    return found.maximum(found.T).tocsr()


class Encoder:
    """A node's own code from features and neighbour rows, hops over both graphs, and the masked autoencoder."""

    def __init__(self, features, profile, latent, given, decoder, target, classes, functions):
        self.inputs, self.latent, self.given, self.decoder = [features, profile], latent, given, decoder
        self.target, self.classes = target, classes
        self.dropout, self.cosine_error, self.cross_entropy = functions
        fresh = lambda rows, cols: torch.nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(rows, cols)))
        zeros = lambda cols: torch.nn.Parameter(torch.zeros(1, cols))
        width = HIDDEN * len(self.inputs)
        self.first = [fresh(each.shape[1], HIDDEN) for each in self.inputs]
        self.first_bias = [zeros(HIDDEN) for _ in self.inputs]
        self.head, self.head_bias = fresh(width, (1 + 2 * HOPS) * classes), zeros(classes)
        self.token, self.code = zeros(width), fresh(width, (1 + HOPS) * DECODED)
        self.restore, self.restore_bias = fresh(DECODED, target.shape[1]), zeros(target.shape[1])
        self.weights = [*self.first, self.head, self.code, self.restore]
        self.biases = [*self.first_bias, self.head_bias, self.token, self.restore_bias]

    def own(self, training):
        codes = []
        for each, weight, bias in zip(self.inputs, self.first, self.first_bias):
            values = self.dropout(each.values, INPUT_DROPOUT) if training else each.values
            codes.append(F.relu(each.matmul(weight, values) + bias))
        return torch.cat(codes, 1)

    @staticmethod
    def weighed(own, weights, columns, graphs):
        """H W0 + S (H W1 + S (H W2)) + …: codes travel as the few columns that they become."""
        parts = (own @ weights).split(columns, 1)
        total, first = parts[0], 1
        for graph, scale in graphs:
            if scale > 0:
                far = parts[first + HOPS - 1]
                for hop in reversed(range(HOPS - 1)):
                    far = parts[first + hop] + graph.matmul(far.contiguous())
                total = total + scale * graph.matmul(far.contiguous())
            first += HOPS
        return total

    def scores(self, own, training):
        kept = [1.0, 1.0]
        if training:
            kept = [0.0 if drawn < CHANNEL_DROPOUT else 1 / (1 - CHANNEL_DROPOUT) for drawn in np.random.random(2)]
            own = self.dropout(own, DROPOUT)
        return self.weighed(own, self.head, self.classes, [(self.latent, kept[0]), (self.given, kept[1])]) + self.head_bias

    def reconstruction(self, own):
        nodes = len(own)
        masked = torch.randperm(nodes)[: int(MASK * nodes)].sort().values
        visible = torch.ones(nodes, 1)
        visible[masked] = 0
        own = own * visible + (1 - visible) * self.token
        codes = self.weighed(own, self.code, DECODED, [(self.latent, 1.0)])
        spread = self.decoder.matmul(codes * visible)
        restored = F.relu(spread[masked]) @ self.restore + self.restore_bias
        return WEIGHT * self.cosine_error(restored, self.target[masked])


def cosine_error(restored, target):
    """Of unit targets."""
    cosine = (F.normalize(restored, eps=1e-8) * target).sum(1)
    return (1 - cosine).clamp_min(0).pow(EXPONENT).mean()


FUNCTIONS = [F.dropout, cosine_error, F.cross_entropy]


def train(encoder, graph, epochs):
    """Adam, validation after every epoch, the best weights kept; the share of the test nodes that is right in the end."""
    decay = 1 / len(graph.train)
    groups = [{"params": encoder.weights, "weight_decay": decay}, {"params": encoder.biases, "weight_decay": 0.0}]
    parameters = [*encoder.weights, *encoder.biases]
    adam = torch.optim.Adam(groups, lr=LEARNING_RATE, fused=True)
    targets, answers = graph.labels[graph.train], graph.labels[graph.val]
    best, kept = (-1.0, 0.0), []
    for _ in range(epochs):
        own = encoder.own(True)
        loss = encoder.cross_entropy(encoder.scores(own, True)[graph.train], targets) + encoder.reconstruction(own)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()
        with torch.no_grad():
            scores = encoder.scores(encoder.own(False), False)[graph.val]
            found = ((scores.argmax(1) == answers).float().mean().item(), -F.cross_entropy(scores, answers).item())
            if found > best:
                best, kept = found, [parameter.clone() for parameter in parameters]
    with torch.no_grad():
        for parameter, value in zip(parameters, kept):
            parameter.copy_(value)
        scores = encoder.scores(encoder.own(False), False)[graph.test]
        return (scores.argmax(1) == graph.labels[graph.test]).float().mean().item()


class Clock:
    """Seconds of each part, one after the other."""

    def __init__(self):
        self.parts, self.last = {}, time.perf_counter()

    def end(self, part):
        now = time.perf_counter()
        self.parts[part], self.last = now - self.last, now


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--split", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(options.seed)
    np.random.seed(options.seed)
    return options


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def report(what, options, clock, accuracy, before):
    """One JSON document; memory in MB of a million bytes."""
    told = {"what": f"{what}, PyTorch {torch.__version__}", "threads": options.threads, "compiled": options.compile, "seconds": clock.parts}
    told |= {"total_seconds": sum(clock.parts.values()), "peak_mb": peak_megabytes(), "mb_before_data": before, "test_accuracy": 100 * accuracy}
    print(json.dumps(told))


def main():
    options, before, clock = arguments(), peak_megabytes(), Clock()
    graph = Graph(options.data, options.split)
    clock.end("load")
    features = view(scaled_rows(graph.features))
    rows = torch.cat([features, view(scaled_rows(graph.adjacency))], 1)
    clock.end("views")
    rank = min(DIRECTIONS_PER_CLASS * graph.classes + 1, *rows.shape)
    directions = node_directions(rows, rank)
    clock.end("self-expression")
    latent = nearest(directions)
    clock.end("latent graph")
    functions = FUNCTIONS
    if options.compile:
        functions = [torch.compile(function, dynamic=False) for function in functions]
    inputs = (differentiable(graph.features), differentiable(neighbour_rows(graph.adjacency)))
    graphs = (differentiable(scaled_rows(latent)), differentiable(scaled_rows(graph.adjacency)), differentiable(with_loops(latent)))
    accuracy = train(Encoder(*inputs, *graphs, features, graph.classes, functions), graph, options.epochs)
    clock.end("training")
    report("twin", options, clock, accuracy, before)


if __name__ == "__main__":
    main()
