"""Where the nodes of a model's graph stand: layers from top to bottom, in columns where they would be too high."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise, takewhile

from workbench.records import record
from workbench.runtime.measuring.timing import duration
from workbench.viz.draw.layered import GAP_Y, Layered, layered
from workbench.viz.draw.scene import SANS_WIDTH, XY
from workbench.viz.views.models.model_graph import GraphEdge, GraphNode, ModelGraph, Path

NAME, SMALL = 12.0, 10.5
BOX, TWO_LINES, BELOW = 23.0, 38.0, 16.0
"""Heights of a box with one line, with two, and of the shape that stands below it."""
HIGHEST, GUTTER, FUNCTIONS = 620.0, 46.0, 64.0
"""A column is about so high, and so far from the next; functions are as far from one another."""


@record(slots=True)
class Placed:
    """The box of a node: left, top, width, height; the shape of its result stands below, if it has one."""

    x: float
    y: float
    width: float
    height: float


@record(eq=False)
class Layout:
    """Boxes of nodes by id, the points of each edge, and modules that have a place of their own, with their frames."""

    boxes: Mapping[str, Placed]
    routes: tuple[tuple[XY, ...], ...]
    frames: Mapping[Path, Placed]
    width: float
    height: float


def laid_out(graph: ModelGraph, highest: float = HIGHEST) -> Layout:
    """The layout of a graph, its functions side by side.

    One that is higher than `highest` pixels goes on beside, where one edge leads on.
    """
    boxes: dict[str, Placed] = {}
    routes: dict[GraphEdge, tuple[XY, ...]] = {}
    left = height = 0.0
    for nodes in _functions(graph):
        names = {node.id for node in nodes}
        edges = [edge for edge in graph.edges if edge.source in names]
        columns = _placed(nodes, edges, highest, left, boxes, routes)
        left, height = left + columns.width + FUNCTIONS, max(height, columns.height)
    frames = _frames(graph, boxes)
    return Layout(boxes, tuple(routes[edge] for edge in graph.edges), frames, max(left - FUNCTIONS, 0.0), height)


def _functions(graph: ModelGraph) -> list[list[GraphNode]]:
    """The nodes of the entry, and of every function that stands for itself."""
    found: dict[str, list[GraphNode]] = {}
    for node in graph.nodes:
        own = node.path[0] if node.path and node.path[0].startswith("fn ") else ""
        found.setdefault(own, []).append(node)
    return list(found.values())


def _placed(
    nodes: list[GraphNode], edges: list[GraphEdge], highest: float, left: float, boxes: dict[str, Placed],
    routes: dict[GraphEdge, tuple[XY, ...]],
) -> _Columns:  # fmt: skip
    """Lay out one function from `left` on."""
    place = {node.id: at for at, node in enumerate(nodes)}
    sizes = [_size(node) for node in nodes]
    pairs = [(place[e.source], place[e.target]) for e in edges]
    found = layered(sizes, pairs)
    columns = _Columns(found, sizes, highest, left, [_depth(nodes[a], nodes[b]) for a, b in pairs])
    for node, middle, (_, height) in zip(nodes, found.middles, sizes, strict=True):
        x, y = columns.moved(middle)
        boxes[node.id] = Placed(x - box_width(node) / 2, y - height / 2, box_width(node), box_height(node))
    routes |= {e: columns.route(r) for e, r in zip(edges, _apart(found, nodes, pairs), strict=True)}
    return columns


def _depth(a: GraphNode, b: GraphNode) -> int:
    """How many modules around both there are."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a.path, b.path, strict=False)))


def box_width(node: GraphNode) -> float:
    """Of the box alone."""
    inner = max(len(node.name) * NAME * (SANS_WIDTH + 0.03), len(second_line(node)) * SMALL * SANS_WIDTH)
    return inner + (40 if node.kind in ("call", "folded") else 18)


def box_height(node: GraphNode) -> float:
    """Of the box alone."""
    return TWO_LINES if second_line(node) else BOX


def second_line(node: GraphNode) -> str:
    """What stands below the name: the time it took, or what a folded module holds."""
    time = "" if node.milliseconds is None else duration(node.milliseconds / 1e3)
    held = node.label if node.kind == "folded" else ""
    return " · ".join(filter(None, (held, time)))


def _size(node: GraphNode) -> tuple[float, float]:
    """With the shape below."""
    below = len(node.shape) * SMALL * SANS_WIDTH + 6
    return max(box_width(node), below), box_height(node) + (BELOW if node.shape else 0.0)


def _apart(found: Layered, nodes: list[GraphNode], edges: list[tuple[int, int]]) -> list[tuple[XY, ...]]:
    """The routes with their ends beside one another where several come into one box."""
    entering: dict[int, list[int]] = {}
    for number, (_, target) in enumerate(edges):
        entering.setdefault(target, []).append(number)
    routes = [list(route) for route in found.routes]
    for target, numbers in entering.items():
        room = min(16.0, (box_width(nodes[target]) - 16) / max(len(numbers), 2))
        numbers.sort(key=lambda n: found.routes[n][-2][0])
        for at, number in enumerate(numbers):
            x, y = routes[number][-1]
            routes[number][-1] = (x + (at - (len(numbers) - 1) / 2) * room, y)
    return [tuple(route) for route in routes]


class _Columns:
    """Breaks a high drawing where only one edge goes from one layer to the next."""

    def __init__(
        self, found: Layered, sizes: list[tuple[float, float]], highest: float, left: float, inside: list[int]
    ) -> None:  # fmt: skip
        """`inside` says of each edge how many modules it would be cut out of."""
        self.spans = [
            (y - h / 2, y + h / 2, x - w / 2, x + w / 2)
            for (x, y), (w, h) in zip(found.middles, sizes, strict=True)
        ]  # fmt: skip
        self.found, self.inside = found, inside
        self.turns: dict[int, dict[XY, int]] = {}
        self.breaks = self._chosen(highest)
        self.tops = [0.0, *(y + GAP_Y / 2 for y in self.breaks)]
        self.lefts = self._lefts(left)

    def _chosen(self, highest: float) -> list[float]:
        """The lower borders of the layers behind which a column ends."""
        count = round(self.found.height / highest + 0.3)
        if count < 2:
            return []
        possible = {y: price for y in sorted({round(span[1], 2) for span in self.spans})[:-1]
                    if (price := self._price(y)) is not None}  # fmt: skip
        chosen = set()
        for wanted in (self.found.height * part / count for part in range(1, count)):
            y = min(possible, key=lambda y: abs(y - wanted) + possible[y], default=0.0)
            if y > 0 and abs(y - wanted) < 0.6 * highest:
                chosen.add(y)
        return sorted(chosen)

    def _price(self, y: float) -> float | None:
        """What a break behind this height costs, in pixels; none where more than two edges go on, or a box stands."""
        gap = y + GAP_Y / 2
        if any(top < gap < bottom for top, bottom, _, _ in self.spans):
            return None
        cut = [n for n, route in enumerate(self.found.routes) if route[0][1] < gap < route[-1][1]]
        return 90.0 * min(self.inside[n] for n in cut) + 60.0 * len(cut) if 0 < len(cut) < 3 else None

    def _column(self, y: float) -> int:
        return sum(y > each + GAP_Y / 2 for each in self.breaks)

    def _lefts(self, start: float) -> list[float]:
        """How far each column is moved to the right."""
        lefts, right = [], start
        for column in range(len(self.breaks) + 1):
            own = [span for span in self.spans if self._column(span[0] + 0.1) == column]
            lefts.append(right - min((left for _, _, left, _ in own), default=0.0))
            right = lefts[-1] + max((far for *_, far in own), default=0.0) + GUTTER
        self.width = right - GUTTER - start
        ends = [*self.tops[1:], self.found.height + GAP_Y]
        self.height = max(end - top for top, end in zip(self.tops, ends, strict=True)) - (0 if self.breaks else GAP_Y)
        return lefts

    def moved(self, point: XY) -> XY:
        """A point where it stands in its column."""
        column = self._column(point[1])
        return point[0] + self.lefts[column], point[1] - self.tops[column]

    def route(self, points: tuple[XY, ...]) -> tuple[XY, ...]:
        """An edge, which goes up between two columns wherever it leads from one to the next."""
        parts: dict[int, list[XY]] = {}
        for at, (x, y) in enumerate(points):
            column = self._column(y if at < len(points) - 1 else y - 0.1)
            parts.setdefault(column, []).append((x + self.lefts[column], y - self.tops[column]))
        columns = sorted(parts)
        found = list(parts[columns[0]])
        for before, after in pairwise(columns):
            found += [*self._over(found[-1], parts[after][0], before, after, points[0]), *parts[after]]
        return tuple(found)

    def _over(self, end: XY, begin: XY, before: int, after: int, source: XY) -> list[XY]:
        """The way from the end of a column to the next; values that go on together have lanes of their own."""
        lanes = self.turns.setdefault(after, {})
        lane = lanes.setdefault(source, len(lanes))
        edge = self.lefts[after] + min(span[2] for span in self.spans if self._column(span[0] + 0.1) == after)
        across, low, high = edge - GUTTER / 2 - 6 * lane, self._bottom(before) + 8 + 6 * lane, begin[1] - 12 - 5 * lane
        return [(end[0], low), (across, low), (across, high), (begin[0], high)]

    def _bottom(self, column: int) -> float:
        """The lower border of what stands in a column."""
        ends = (bottom for top, bottom, *_ in self.spans if self._column(top + 0.1) == column)
        return max(ends, default=0.0) - self.tops[column]


def _frames(graph: ModelGraph, boxes: Mapping[str, Placed]) -> dict[Path, Placed]:
    """The modules with several nodes between which no other stands, each with the frame around them."""
    found = {}
    for path in graph.modules:
        own = [node for node in graph.nodes if node.path[: len(path)] == path]
        if len(own) < 2:
            continue
        depth = max(len(node.path) for node in own) - len(path)
        frame = _around([boxes[node.id] for node in own], depth, len(frame_name(path)) * 9.5 * SANS_WIDTH + 12)
        others = (boxes[node.id] for node in graph.nodes if node.path[: len(path)] != path)
        if not any(_meet(frame, other) for other in others):
            found[path] = frame
    return found


def frame_name(path: Path) -> str:
    """What stands at a frame: the last part of the path, and the part before a mere number."""
    return ".".join(path[-2:]) if path[-1].isdigit() else path[-1]


def _around(boxes: list[Placed], depth: int, least: float) -> Placed:
    """A frame around boxes, with room for its name and the frames inside; at least so wide."""
    side, head = 6.0 + 4 * depth, 15.0 + 12 * depth
    left, top = min(b.x for b in boxes) - side, min(b.y for b in boxes) - head
    right, bottom = max(b.x + b.width for b in boxes) + side, max(b.y + b.height for b in boxes) + BELOW + 2 + 3 * depth
    return Placed(left, top, max(right - left, least), bottom - top)


def _meet(a: Placed, b: Placed) -> bool:
    apart = a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
    return not apart
