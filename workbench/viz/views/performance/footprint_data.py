"""Footprints as plain data: the rows of a schedule's tree with what they hold, and the traffic of each memory level."""

from __future__ import annotations

from workbench import poly
from workbench.poly.count.counting import every_touch
from workbench.poly.count.footprints import LoopFootprint, loop_footprints
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, statements
from workbench.records import record
from workbench.target import Target
from workbench.viz.draw.palette import array_numbers, statement_numbers
from workbench.viz.frames.coordinates import Subject

LEVELS = ("L1", "L2", "L3")


@record
class LoopRow:
    """One iteration of a loop (of the whole program when `name` is empty): `fits` names the smallest cache for it."""

    name: str
    kind: str
    depth: int
    footprint: LoopFootprint
    fits: str = ""


@record
class StatementRow:
    """A statement below the loops; `number` fixes its colour."""

    name: str
    number: int
    depth: int


@record
class Level:
    """A cache: what it moves from and to the memory behind it when it keeps one iteration of each loop in `keeps`.

    The loops are the outermost whose iterations fit; `flops` over `moved_bytes` is the intensity.
    """

    name: str
    capacity: int
    keeps: tuple[str, ...]
    moved_bytes: int
    flops: int

    @property
    def intensity(self) -> float:
        """Operations for each byte moved."""
        return self.flops / max(1, self.moved_bytes)


Row = LoopRow | StatementRow


@record
class Footprints:
    """All rows in the order of the tree, the arrays in the order of the program, the caches.

    `numbers` fix the colours and marks of the arrays.
    """

    title: str
    arrays: tuple[str, ...]
    numbers: tuple[int, ...]
    rows: tuple[Row, ...]
    levels: tuple[Level, ...]


def footprint_data(of: Subject, target: Target) -> Footprints:
    """Exact counts for a program whose sizes are bound."""
    program, tree = of.program, of.tree
    found = {f.path: f for f in loop_footprints(program, tree)}
    sizes = ", ".join(f"{k}={v}" for k, v in program.sizes.items())
    touched = {a.array for f in found.values() for a in f.arrays}
    caches = tuple((n, b) for n, b in zip(LEVELS, target.cache_bytes, strict=True) if b)
    rows: list[Row] = [
        LoopRow("", "", 0, found[()], _fits(found[()], caches)),
        *_rows(program, tree, found, (), caches),
    ]
    levels = tuple(level(program, tree, name, capacity) for name, capacity in caches)
    title = f"{program.name} for {sizes}" if sizes else program.name
    arrays = tuple(a for a in program.arrays if a in touched)
    numbers = array_numbers(program)
    return Footprints(title, arrays, tuple(numbers[a] for a in arrays), tuple(rows), levels)


def _fits(found: LoopFootprint, caches: tuple[tuple[str, int], ...]) -> str:
    return next((name for name, capacity in caches if found.held_bytes <= capacity), "")


Found = dict[tuple[Loop, ...], LoopFootprint]


def _rows(
    program: Program, tree: Tree, found: Found, path: tuple[Loop, ...], caches: tuple[tuple[str, int], ...]
) -> list[Row]:
    match tree:
        case Leaf(identifier):
            own = program.statement(identifier)
            number = statement_numbers(program)[own.name]
            return [StatementRow(f"{own.name}({', '.join(own.dims)})", number, len(path) + 1)]
        case Mark(_, child):
            return _rows(program, child, found, path, caches)
        case Sequence(children):
            return [row for child in children for row in _rows(program, child, found, path, caches)]
        case Band(loops, child):
            rows: list[Row] = []
            for loop in loops:
                path = (*path, loop)
                rows.append(LoopRow(loop.name, loop.kind, len(path), found[path], _fits(found[path], caches)))
            return [*rows, *_rows(program, child, found, path, caches)]


def level(program: Program, tree: Tree, name: str, capacity: int) -> Level:
    """The traffic of a memory of so many bytes behind which there is another."""
    kept: list[LoopFootprint] = []
    for found in loop_footprints(program, tree):
        inside = any(found.path[: len(k.path)] == k.path and set(found.statements) <= set(k.statements) for k in kept)
        if not inside and found.held_bytes <= capacity:
            kept.append(found)
    covered = {s for k in kept for s in k.statements}
    rest = sum(every_touch(program, s) for s in statements(tree) if s not in covered)
    names = tuple(k.path[-1].name if k.path else "everything" for k in kept)
    return Level(name, capacity, names, rest + sum(k.moved_bytes for k in kept), poly.flops(program))
