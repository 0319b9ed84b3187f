"""The order of blocks of a triangle: products of what is finished first, then what is left of each block."""

from __future__ import annotations

from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, Index
from workbench.poly.programs.loop_names import LoopName
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import (
    Band,
    Leaf,
    Loop,
    LoopKind,
    Sequence,
    Tree,
    loops,
    normal,
    path,
    restrict,
    statements,
)
from workbench.poly.sets.names import unique
from workbench.records import record
from workbench.schedules.analysis.structure import structure
from workbench.schedules.edit import children
from workbench.schedules.recipes.try_steps import dim_of, top
from workbench.schedules.scheduled_program import Schedule

ROWS, COLUMNS = 8, 4
"""Register tiles of what a thread takes at a time."""


@record
class Sizes:
    """Rows and columns of a register tile; without `width` there are no columns.  `lanes`: they run in lanes."""

    height: int
    width: int = 0
    lanes: bool = False

    @property
    def both(self) -> tuple[int, ...]:
        return (self.height, self.width) if self.width else (self.height,)


def column_dim(program: Program, statement: str) -> str | None:
    """The dim of a statement that counts columns: the second, if the cell that is written moves with it."""
    own = program.statement(statement)
    return own.dims[1] if len(own.dims) > 1 and own.dims[1] in structure(program, statement).free else None


def blocked_tree(
    schedule: Schedule, number: int, early: tuple[str, ...], sizes: Sizes, *, wavefront: bool, heads_first: bool
) -> Tree | None:
    """The whole order with one top-level nest in blocks; None where there are no heads to put first.

    `early` are the updates (ids) that go before the rest of a block.  With `wavefront` the blocks on a diagonal are
    divided among threads; with `heads_first` what stands before an update goes before its early terms.
    """
    nests = top(schedule.tree)
    nest = nests[number]
    assert isinstance(nest, Band)
    heads = _heads(nest, early) if heads_first else ()
    if heads_first and not heads:
        return None
    new = _Blocks(schedule, nest, early, sizes).tree(heads, wavefront=wavefront)
    return normal(Sequence((*nests[:number], new, *nests[number + 1 :])))


def _heads(tree: Tree, early: tuple[str, ...]) -> tuple[str, ...]:
    """Statements that stand alone beside an early update and before it."""
    found: list[str] = []
    if isinstance(tree, Sequence):
        for place, part in enumerate(tree.children):
            if isinstance(part, Band) and set(statements(part)) <= set(early):
                found += [x.statement for x in tree.children[:place] if isinstance(x, Leaf)]
    return tuple(dict.fromkeys((*found, *(s for x in children(tree) for s in _heads(x, early)))))


@record
class _Blocks:
    """One nest on its way into blocks."""

    schedule: Schedule
    nest: Band
    early: tuple[str, ...]
    sizes: Sizes

    def tree(self, heads: tuple[str, ...], *, wavefront: bool) -> Band:
        """All of the nest."""
        ids = statements(self.nest)
        firsts = [Band(self.cells((s,), "serial", "serial"), Leaf(s)) for s in heads]
        tiles = [self.tile(s) for s in self.early]
        left = restrict(self.nest, {*ids} - {*heads, *self.early})
        assert isinstance(left, Band)
        inside = self.inside(normal(Band(left.loops[1:], left.child)))
        rest = Band(self.cells(statements(left), "serial", "serial")[:1], inside)
        return Band(self.outer(ids, wavefront=wavefront), Sequence((*firsts, *tiles, rest)))

    def outer(self, ids: tuple[str, ...], *, wavefront: bool) -> tuple[Loop, ...]:
        """The loops over blocks, and over the register tiles in them."""
        height, width = self.sizes.height, self.sizes.width
        if not width:
            return (self.loop("o", 0, {s: _over(self.row(s), height) for s in ids}),)
        tall, wide = height * ROWS, width * COLUMNS
        rows = {s: _over(self.row(s), tall) for s in ids}
        columns = {s: _over(self.column(s), wide) for s in ids}
        sums: dict[str, Expr] = {s: Binary("+", rows[s], columns[s], INT64) for s in ids}
        blocks = (
            self.loop("w", 0, sums if wavefront else rows),
            self.loop("b", 1, columns, "parallel" if wavefront else "serial"),
        )
        tiles = (
            self.loop("o", 0, {s: _over(_within(self.row(s), tall), height) for s in ids}),
            self.loop("o", 1, {s: _over(_within(self.column(s), wide), width) for s in ids}),
        )
        return (*blocks, *tiles)

    def tile(self, own: str) -> Band:
        """The early terms of a register tile, one after the other around its cells."""
        term = path(self.nest, own)[-1]
        cells = self.cells((own,), "unroll", "vector" if self.sizes.lanes else "unroll")
        return Band((term, *cells), Leaf(own))

    def cells(self, ids: tuple[str, ...], *kinds: LoopKind) -> tuple[Loop, ...]:
        """The loops over the rows and columns of a register tile."""
        sizes = zip((self.row, self.column), self.sizes.both, kinds, strict=False)
        return tuple(
            self.loop("i", n, {s: _within(place(s), size) for s in ids}, kind)
            for n, (place, size, kind) in enumerate(sizes)
        )

    def inside(self, tree: Tree) -> Tree:
        """What is left of a block in the order of the text; sums of their own go column by column in lanes."""
        match tree:
            case Band(own, child):
                ids = statements(tree)
                if self.sizes.lanes and isinstance(child, Leaf) and len(own) == 2 and self.across(own[0], ids):
                    return Band((own[1], *self.cells(ids, "serial", "vector")[1:]), child)
                changed = tuple(self.cells(ids, "serial", "serial")[1] if self.across(x, ids) else x for x in own)
                return Band(changed, self.inside(child))
            case Sequence(parts):
                return Sequence(tuple(map(self.inside, parts)))
        return tree

    def across(self, loop: Loop, ids: tuple[str, ...]) -> bool:
        """Whether a loop walks over columns."""
        whole = Band((loop,), Sequence(()))
        return bool(self.sizes.width) and all(
            (d := column_dim(self.schedule.program, s)) is not None and dim_of(whole, 0, s) == d for s in ids
        )

    def row(self, own: str) -> Expr:
        return Index(self.schedule.program.statement(own).dims[0], INT64)

    def column(self, own: str) -> Expr:
        """The column of a statement; on the diagonal for one that has none."""
        found = column_dim(self.schedule.program, own)
        return self.row(own) if found is None else Index(found, INT64)

    def loop(self, suffix: str, which: int, rows: dict[str, Expr], kind: LoopKind = "serial") -> Loop:
        """A loop named after the row or the column."""
        places = [self.row, self.column][which]
        names = [getattr(places(s), "name", "") for s in self.early]
        taken = {x.name for x in loops(self.nest)}
        return Loop(unique(LoopName(names[0]).part(suffix).loop, taken), tuple(sorted(rows.items())), kind)


def _over(place: Expr, size: int) -> Expr:
    return Binary("/", place, Const(size, INT64), INT64)


def _within(place: Expr, size: int) -> Expr:
    return Binary("%", place, Const(size, INT64), INT64)
