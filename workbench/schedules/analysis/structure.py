"""What a statement looks like from the memory's side: strides of its accesses, trip counts, reuse."""

from __future__ import annotations

from functools import lru_cache

from workbench import poly
from workbench.lang.algebra.normal_form import constant, depends, growth
from workbench.lang.algebra.polynomial import Polynomial
from workbench.lang.expr import Binary, Expr, Index, Select, walk
from workbench.lang.expr import reads as reads_of
from workbench.poly.programs.accumulating import added, contribution, written_in_c
from workbench.poly.programs.addresses import address_step
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.records import record


@record
class Touch:
    """One access: elements moved per step of each dim; None where that is not constant, 0 where it stays.

    `own` are the dims whose every iteration has a buffer of its own: it stays where it is, and holds other values.
    """

    array: str
    strides: tuple[tuple[str, int | None], ...]
    own: frozenset[str] = frozenset()

    def along(self, dim: str) -> int | None:
        return dict(self.strides)[dim]

    def stays(self, dim: str) -> bool:
        """Whether the same value is meant all along the dim."""
        return self.along(dim) == 0 and dim not in self.own


@record
class Structure:
    """A statement's dims with trip counts (None: symbolic), what it writes and what it reads.

    `reads` are the values it uses (the cell it accumulates into is not among them).
    """

    statement: ProgramStatement
    trips: tuple[tuple[str, int | None], ...]
    writes: tuple[Touch, ...]
    reads: tuple[Touch, ...]

    def trip(self, dim: str) -> int | None:
        return dict(self.trips)[dim]

    @property
    def free(self) -> tuple[str, ...]:
        """Dims that move some written cell."""
        return tuple(d for d in self.statement.dims if any(w.along(d) != 0 for w in self.writes))

    @property
    def reduced(self) -> tuple[str, ...]:
        """Dims along which the same cell is written again."""
        return tuple(d for d in self.statement.dims if d not in self.free)

    def contiguous(self, dim: str) -> int:
        """How many accesses walk to the next element along the dim (or back, for one shuffle), minus those that jump.

        A sum waits for its last addition: lanes put together from elements that stand equally far apart are worth it.
        """
        strides = [touch.along(dim) for touch in (*self.writes, *self.reads)]
        sums = all(touch.along(dim) == 0 for touch in self.writes)
        apart = [s is not None and abs(s) < LARGE for s in strides]
        return sum(WALKS.get(s, -1 if sums and near else -3) for s, near in zip(strides, apart, strict=True))

    def streams(self, dim: str) -> bool:
        """Whether every access stays or moves to the next element along the dim, and some moves."""
        strides = [t.along(dim) for t in (*self.writes, *self.reads)]
        return all(s in (0, 1) for s in strides) and any(s == 1 for s in strides)

    def strides_little(self, dim: str) -> bool:
        """Whether every read stays or moves by a few elements along the dim (a strided convolution), and some moves."""
        strides = [r.along(dim) for r in self.reads]
        near = all(s is not None and 0 <= s <= 8 for s in strides) and any(strides)
        return near and not any(dim in r.own for r in self.reads)

    def reuses(self, dim: str) -> bool:
        """Whether some value read stays the same along the dim."""
        return any(r.stays(dim) for r in self.reads)


WALKS: dict[int | None, int] = {1: 2, -1: 1, 0: 0}


@lru_cache(maxsize=1024)
def structure(program: Program, statement: str) -> Structure:
    """The structure of one statement (by id)."""
    own = program.statement(statement)
    sums = added(program, own)
    reads = {r for r in reads_of(*((sums[1],) if sums else own.values)) if r.subscripts}
    return Structure(
        own,
        tuple((d, poly.extent(program, own.id, d)) for d in own.dims),
        tuple(_touch(program, own, array, subscripts) for array, subscripts in own.targets),
        tuple(_touch(program, own, r.tensor, r.subscripts) for r in sorted(reads, key=repr)),
    )


def _touch(program: Program, statement: ProgramStatement, array: str, subscripts: tuple[Expr, ...]) -> Touch:
    own = program.arrays[array]
    placed_later = own.times and all(constant(e) == 0 for e in own.strides)
    if placed_later and written_in_c(program):
        return Touch(array, tuple(_in_buffer(program, statement, subscripts).items()))
    if placed_later and _is_row(program, array):
        mine = frozenset(d for d in statement.dims for s in subscripts[: own.times] if depends(s, d))
        return Touch(array, tuple(_in_buffer(program, statement, subscripts[own.times :]).items()), mine)
    steps = {d: address_step(program.arrays[array], subscripts, d) for d in statement.dims}
    return Touch(array, tuple((d, None if s is None else _elements(s)) for d, s in steps.items()))


@lru_cache(maxsize=1024)
def _is_row(program: Program, array: str) -> bool:
    """Whether a buffer is a row that each iteration makes and walks from end to end, and no copy of something.

    Of a loop in blocks an iteration is named by its block and its place in it.
    """
    times = program.arrays[array].times
    known = [(s, a) for s in program.statements for a in s.accesses if a.array == array]
    return all(s.part == "computes" and all(isinstance(c, Index) for c in a.subscripts[times:]) for s, a in known)


def _in_buffer(program: Program, own: ProgramStatement, subscripts: tuple[Expr, ...]) -> dict[str, int | None]:
    """The same in a buffer, whose places are given out later: as if it held what this statement touches, row by row.

    (In the operator language temporaries have places of their own, and buffers are copies, or rows of them.)
    """
    found: dict[str, int | None] = dict.fromkeys(own.dims, 0)
    cells = 1
    for subscript in reversed(subscripts):
        extent = 1
        for d in (d for d in own.dims if depends(subscript, d)):
            step, known, trip = growth(subscript, d), found[d], poly.extent(program, own.id, d)
            found[d] = None if step is None or known is None else known + step * cells
            extent += LARGE if step is None or trip is None else abs(step) * (trip - 1)
        cells = min(LARGE, cells * extent)
    return found


def _elements(step: Polynomial) -> int:
    return LARGE if step.constant is None else step.constant


LARGE = 1 << 20
"""Stands for a stride that is symbolic: never 0 and never 1."""


def _guarded(statement: ProgramStatement) -> bool:
    """Whether a value is chosen by a condition, so that lanes may go different ways."""
    return any(isinstance(n, Select) for v in statement.values for n in walk(v))


def multiplies(statement: ProgramStatement) -> bool:
    """Whether the contribution is a product (or a sum, for min and max) of at least two reads."""
    sums = contribution(statement)
    value = sums[1] if sums else statement.values[0]
    return isinstance(value, Binary) and sum(bool(r.subscripts) for r in reads_of(value)) >= 2


def in_place(statement: ProgramStatement) -> bool:
    """Whether it reads other cells of an array that it writes."""
    written = dict(statement.targets)
    others = [a for a in statement.reads if a.array in written and not a.accumulates]
    return any(a.subscripts != written[a.array] for a in others)


def swept(shape: Structure) -> bool:
    """Whether every iteration of the outermost of several loops writes the same cells."""
    dims = shape.statement.dims
    return len(dims) > 1 and all(w.along(dims[0]) == 0 for w in shape.writes)
