"""LHS as the paper prints it, for `lhs_twin.sh`: the same network as twin.py on a structure that is N x N throughout; prints one JSON document.

The self-expression from the kernel form, `Q` and `Q' = (Q + Qᵀ)/2` dense, of whole rows instead of principal components; all eigenpairs of `Q'`, of
which the leading ones are kept; `S = L Lᵀ` dense, with the entries that the twin keeps; graph convolutions over dense `S`. The given graph and
the features stay sparse.

Usage: literal.py DATA.npz [--threads 2] [--split 0] [--epochs 200] [--seed 0]
"""

import torch
import torch.nn.functional as F

from twin import (
    DIRECTIONS_PER_CLASS, FUNCTIONS, RIDGE, THRESHOLD, TOP_K, Clock, Encoder, Graph, arguments, differentiable, neighbour_rows, peak_megabytes,
    report, scaled_rows, train, view,
)


class Dense:
    """A dense matrix with the face of a sparse one."""

    def __init__(self, matrix):
        self.matrix = matrix

    def matmul(self, x):
        return self.matrix @ x


def unit_rows(matrix):
    return F.normalize(torch.tensor(matrix.toarray()))


def self_expression(rows):
    """Q' [n, n]."""
    kernel = rows @ rows.T
    penalised = kernel + RIDGE * torch.eye(len(rows))
    hat = torch.cholesky_solve(kernel, torch.linalg.cholesky(penalised))
    leverage = hat.diagonal().clone()
    expression = (hat - torch.diag(leverage)) / (1 - leverage)[:, None]
    return (expression + expression.T) / 2


def latent_graph(expression, rank):
    """S* [n, n]."""
    values, vectors = torch.linalg.eigh(expression)
    leading = values.abs().topk(rank).indices
    directions = F.normalize(vectors[:, leading] * values[leading].abs().sqrt())
    similarity = directions @ directions.T
    similarity.fill_diagonal_(0)
    best, who = similarity.topk(min(TOP_K, len(similarity) - 1))
    kept = torch.zeros_like(similarity).scatter_(1, who, best * (best >= THRESHOLD))
    return torch.maximum(kept, kept.T)


def main():
    options, before, clock = arguments(), peak_megabytes(), Clock()
    graph = Graph(options.data, options.split)
    clock.end("load")
    rows = torch.cat([unit_rows(scaled_rows(graph.features)), unit_rows(scaled_rows(graph.adjacency))], 1)
    clock.end("views")
    expression = self_expression(rows)
    clock.end("self-expression")
    latent = latent_graph(expression, min(DIRECTIONS_PER_CLASS * graph.classes + 1, graph.nodes))
    del rows, expression
    clock.end("latent graph")
    average = latent / latent.sum(1, keepdim=True).clamp_min(1e-12)
    looped = latent + torch.eye(graph.nodes)
    scale = looped.sum(1).rsqrt()
    decoder = scale[:, None] * looped * scale
    del latent, looped
    inputs = (differentiable(graph.features), differentiable(neighbour_rows(graph.adjacency)))
    graphs = (Dense(average), differentiable(scaled_rows(graph.adjacency)), Dense(decoder))
    target = view(scaled_rows(graph.features))
    encoder = Encoder(*inputs, *graphs, target, graph.classes, FUNCTIONS)
    accuracy = train(encoder, graph, options.epochs)
    clock.end("training")
    report("literal", options, clock, accuracy, before)


if __name__ == "__main__":
    main()
