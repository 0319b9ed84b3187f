"""A drawing of a directed graph in layers: who makes a value stands above who takes it.

The method of Gansner, Koutsofios, North and Vo (IEEE Transactions on Software Engineering, 1993), which `dot` made
known.  Its two linear programs, layers and horizontal places, are solved by SciPy's HiGHS.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from workbench.records import record
from workbench.viz.draw.scene import XY

Edge = tuple[int, int]
GAP_X, GAP_Y = 26.0, 36.0
SWEEPS = 12
STRAIGHT = (1.0, 2.0, 8.0)
"""What a pixel of slant costs: between two nodes, a node and a bend, two bends of a long edge."""


@record(slots=True)
class Layered:
    """Middles of the nodes; for each edge its points, from the source's lower border to the target's upper one."""

    middles: tuple[XY, ...]
    routes: tuple[tuple[XY, ...], ...]
    width: float
    height: float


def layered(sizes: Sequence[tuple[float, float]], edges: Sequence[Edge]) -> Layered:
    """Places for nodes of these sizes (width, height), in pixels; in a circle one edge is drawn upwards.

    >>> found = layered([(20, 10), (20, 10), (20, 10)], [(0, 1), (0, 2)])
    >>> [round(y) for _, y in found.middles]
    [5, 51, 51]
    """
    if not sizes:
        return Layered((), (), 0.0, 0.0)
    forward = _forward(len(sizes), edges)
    ranks = _ranks(len(sizes), [e for e in forward if e[0] != e[1]])
    chains = _Chains(sizes, ranks, forward)
    order = _ordered(chains)
    xs = _places(chains, order)
    return _drawn(chains, edges, forward, xs)


def _forward(count: int, edges: Sequence[Edge]) -> list[Edge]:
    """The edges, those turned that close a circle (found depth first)."""
    below: list[list[int]] = [[] for _ in range(count)]
    for number, (source, _) in enumerate(edges):
        below[source].append(number)
    state, turned = [0] * count, set()
    for start in range(count):
        stack = [(start, iter(below[start]))] if not state[start] else []
        state[start] = state[start] or 1
        while stack:
            node, rest = stack[-1]
            number = next(rest, None)
            if number is None:
                state[node] = 2
                stack.pop()
            elif state[target := edges[number][1]] == 1:
                turned.add(number)
            elif not state[target]:
                state[target] = 1
                stack.append((target, iter(below[target])))
    return [(b, a) if n in turned else (a, b) for n, (a, b) in enumerate(edges)]


def _solved(cost: Sequence[float], rows: list[list[tuple[int, float]]], least: list[float]) -> Any:
    """The x ≥ 0 of least cost with every row·x ≥ least."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    data = [-value for row in rows for _, value in row]
    columns = [at for row in rows for at, _ in row]
    lines = [n for n, row in enumerate(rows) for _ in row]
    table = csr_array((data, (lines, columns)), shape=(len(rows), len(cost)))
    return linprog(cost, table, [-each for each in least], bounds=(0, None), method="highs").x


def _ranks(count: int, edges: Sequence[Edge]) -> list[int]:
    """The layer of each node, so that edges are short together."""
    if not edges:
        return [0] * count
    cost = [1e-4 / count] * count  # whatever hangs on nothing goes up
    for source, target in edges:
        cost[source] -= 1
        cost[target] += 1
    found = _solved(cost, [[(t, 1.0), (s, -1.0)] for s, t in edges], [1.0] * len(edges))
    return [round(each) for each in found]


class _Chains:
    """Nodes and, behind them, a bend for each layer that a long edge crosses; `links` join neighbouring layers."""

    def __init__(self, sizes: Sequence[tuple[float, float]], ranks: list[int], edges: Sequence[Edge]) -> None:
        self.sizes, self.ranks, self.real = list(sizes), list(ranks), len(sizes)
        self.of_edge: list[list[int]] = []
        for source, target in edges:
            bends = range(ranks[source] + 1, ranks[target])
            self.of_edge.append([source, *(self._bend(rank) for rank in bends), target])
        links = dict.fromkeys(pair for chain in self.of_edge for pair in pairwise(chain) if pair[0] != pair[1])
        self.links: list[Edge] = list(links)
        self.above: list[list[int]] = [[] for _ in self.sizes]
        self.below: list[list[int]] = [[] for _ in self.sizes]
        for source, target in self.links:
            self.below[source].append(target)
            self.above[target].append(source)

    def _bend(self, rank: int) -> int:
        self.sizes.append((6.0, 0.0))
        self.ranks.append(rank)
        return len(self.sizes) - 1

    @property
    def layers(self) -> list[list[int]]:
        """What stands in each layer, in the order in which it is met going down."""
        found: list[list[int]] = [[] for _ in range(max(self.ranks) + 1)]
        seen: set[int] = set()
        stack = [n for n in reversed(range(self.real)) if not self.above[n]]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            found[self.ranks[node]].append(node)
            stack += reversed(self.below[node])
        return found


def _ordered(chains: _Chains) -> list[list[int]]:
    """The order in each layer with the fewest crossings that sweeping by medians found."""
    order = best = chains.layers
    fewest = _crossings(chains, order)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        order = _swept(chains, order, down=sweep % 2 == 0)
        if (found := _crossings(chains, order)) < fewest:
            best, fewest = [list(layer) for layer in order], found
    return best


def _swept(chains: _Chains, order: list[list[int]], *, down: bool) -> list[list[int]]:
    made: list[list[int]] = []
    place: dict[int, int] = {}
    beside = chains.above if down else chains.below
    for layer in order if down else reversed(order):
        known = {node: _median([place[n] for n in beside[node]], at) for at, node in enumerate(layer)}
        found = sorted(layer, key=known.__getitem__)
        place |= {node: at for at, node in enumerate(found)}
        made.append(found)
    return made if down else made[::-1]


def _median(places: list[int], otherwise: int) -> float:
    own = sorted(places)
    return (own[len(own) // 2] + own[(len(own) - 1) // 2]) / 2 if own else otherwise


def _crossings(chains: _Chains, order: list[list[int]]) -> int:
    place = {node: at for layer in order for at, node in enumerate(layer)}
    total = 0
    for layer in order:
        ends = [sorted(place[b] for b in chains.below[node]) for node in layer]
        seen: list[int] = []
        for own in ends:
            total += sum(other > each for each in own for other in seen)
            seen += own
    return total


def _places(chains: _Chains, order: list[list[int]]) -> list[float]:
    """The horizontal middles for which edges are straightest, nothing overlapping."""
    count = len(chains.sizes)
    cost = [1e-3 / count] * count
    rows: list[list[tuple[int, float]]] = []
    least: list[float] = []
    for layer in order:
        for left, right in pairwise(layer):
            rows.append([(right, 1.0), (left, -1.0)])
            least.append((chains.sizes[left][0] + chains.sizes[right][0]) / 2 + GAP_X)
    for at, (a, b) in enumerate(chains.links, count):
        cost.append(STRAIGHT[(a >= chains.real) + (b >= chains.real)])
        rows += [[(at, 1.0), (a, -1.0), (b, 1.0)], [(at, 1.0), (a, 1.0), (b, -1.0)]]
        least += [0.0, 0.0]
    xs = [float(x) for x in _solved(cost, rows, least)[:count]] if rows else [0.0] * count
    shift = min(x - w / 2 for x, (w, _) in zip(xs, chains.sizes, strict=True))
    return [x - shift for x in xs]


def _drawn(chains: _Chains, edges: Sequence[Edge], forward: Sequence[Edge], xs: list[float]) -> Layered:
    heights = [0.0] * (max(chains.ranks) + 1)
    for rank, (_, height) in zip(chains.ranks, chains.sizes, strict=True):
        heights[rank] = max(heights[rank], height)
    tops = [sum(heights[:rank]) + GAP_Y * rank for rank in range(len(heights))]

    def middle(node: int) -> float:
        return tops[chains.ranks[node]] + heights[chains.ranks[node]] / 2

    routes: list[tuple[XY, ...]] = []
    for edge, turned, chain in zip(edges, forward, chains.of_edge, strict=True):
        points = [(xs[chain[0]], middle(chain[0]) + chains.sizes[chain[0]][1] / 2)]
        for bend in chain[1:-1]:  # a bend is as high as its layer, so that no curve cuts a node
            top = tops[chains.ranks[bend]]
            points += [(xs[bend], top), (xs[bend], top + heights[chains.ranks[bend]])]
        points.append((xs[chain[-1]], middle(chain[-1]) - chains.sizes[chain[-1]][1] / 2))
        routes.append(tuple(points if edge == turned else points[::-1]))
    width = max(x + w / 2 for x, (w, _) in zip(xs, chains.sizes, strict=True))
    middles = tuple((xs[n], middle(n)) for n in range(chains.real))
    return Layered(middles, tuple(routes), width, tops[-1] + heights[-1])
