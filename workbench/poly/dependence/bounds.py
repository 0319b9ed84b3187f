"""Accesses that leave their array, and output cells that nothing writes."""

from __future__ import annotations

from functools import lru_cache, reduce

from workbench.lang.expr import Read
from workbench.poly.dependence.flow import reads_before_writes
from workbench.poly.programs.access import whole_extent
from workbench.poly.programs.affine import isl_conjunction
from workbench.poly.programs.program import Access, Array, Program, ProgramStatement
from workbench.poly.sets import isl
from workbench.poly.sets.names import to_isl
from workbench.poly.sets.witness import witness
from workbench.records import record


@record
class OutOfBounds:
    """An access outside its array, with the smallest sizes and the first instance at which it happens.

    `dimension` is the array dimension that is left and `index` its value there; `lower` and `upper`
    (exclusive) are the array's bounds in it at those sizes, None where they are not affine.  `certain` is
    False when data decide whether the access happens at all.
    """

    statement: str
    access: Access
    dimension: int
    index: int
    sizes: dict[str, int]
    instance: dict[str, int]
    certain: bool

    def __str__(self) -> str:
        at = ", ".join(f"{n}={v}" for n, v in {**self.sizes, **self.instance}.items())
        verb = "reads" if self.access.kind == "read" else "writes"
        where = f"index {self.index} in dimension {self.dimension}"
        return f"{self.statement} {verb} {self.access.array} outside: {where}{f' at {at}' if at else ''}"


@lru_cache(maxsize=256)
@isl.guarded
def out_of_bounds(program: Program) -> tuple[OutOfBounds, ...]:
    """Every affine access some instance of which is outside the array although its guard is true.

    Exact for a bound program.  Data-dependent subscripts are checked where the data are known, not here;
    nor is a dimension whose extent is not affine in the sizes left symbolic.
    """
    found = (_outside(program, s, a) for s in program.statements for a in s.accesses if not a.accumulates)
    return tuple(f for f in found if f is not None)


def _outside(program: Program, statement: ProgramStatement, access: Access) -> OutOfBounds | None:
    array = program.arrays[access.array]
    relation = isl.parse_map(access.relation).intersect_params(isl.parse_set(program.context))
    if relation.range().is_subset(box(program, array)):
        return None
    for dimension in range(array.rank):
        bad = relation.subtract_range(box(program, array, (dimension,)))
        if not bad.is_empty():
            cells = tuple(str(d) for d in range(array.rank))
            proof = witness(bad, program.symbols, statement.dims, cells)
            index = proof.target[str(dimension)]
            return OutOfBounds(
                statement.name, access, dimension, index, proof.sizes, proof.source, not access.guarded
            )
    return None


@lru_cache(maxsize=1024)
@isl.guarded
def is_covered(program: Program, array: str) -> bool:
    """Is every cell of the array certainly written, and before it is read, for all sizes of the context?

    Scatters and writes under a condition on data do not count; an extent that is not affine gives False.
    """
    inside = box(program, program.arrays[array]).intersect_params(isl.parse_set(program.context))
    if not _is_affine_box(program.arrays[array]):
        return False
    writes = [a for s in program.statements for a in s.writes if a.array == array and a.exact]
    if not writes:
        return inside.is_empty()
    written = reduce(isl.Set.union, (isl.parse_map(a.relation).range() for a in writes))
    return inside.is_subset(written) and not reads_before_writes(program, array)


@lru_cache(maxsize=1024)
@isl.guarded
def reads_all(program: Program, statement: str, read: Read) -> bool:
    """Whether the instances of a statement certainly read every cell of an array, all through one read."""
    array = program.arrays[read.tensor]
    own = [a for a in program.statement(statement).reads if (a.array, a.subscripts) == (read.tensor, read.subscripts)]
    if not _is_affine_box(array) or not any(a.exact for a in own):
        return False
    cells = reduce(isl.Set.union, (isl.parse_map(a.relation).range() for a in own if a.exact))
    return box(program, array).intersect_params(isl.parse_set(program.context)).is_subset(cells)


def _is_affine_box(array: Array) -> bool:
    return all(whole_extent(array, d, "cell") for d in range(array.rank))


def box(program: Program, array: Array, dimensions: tuple[int, ...] | None = None) -> isl.Set:
    """The cells of an array (bounds in some dimensions only, if given) as a set."""
    chosen = tuple(range(array.rank)) if dimensions is None else dimensions
    return _cells(array, chosen, program.symbols)


def _cells(array: Array, dimensions: tuple[int, ...], symbols: tuple[str, ...]) -> isl.Set:
    cells = [f"cell{d}'" for d in range(array.rank)]  # a prime: no symbol is spelt like this
    names = ", ".join(map(to_isl, symbols))
    prefix = f"[{names}] -> " if names else ""
    inside = isl_conjunction(*(whole_extent(array, d, cells[d]) for d in dimensions)) or "true"
    return isl.parse_set(f"{prefix}{{ {to_isl(array.name)}[{', '.join(cells)}] : {inside} }}")


@lru_cache(maxsize=256)
@isl.guarded
def inside_context(program: Program) -> str:
    """The context without the sizes for which a certain access leaves its array (isl text).

    The dimensions of a local array that name an iteration have no bounds: a skewed loop may count from below 0.
    """
    context = isl.parse_set(program.context)
    for own in program.statements:
        for access in own.accesses:
            array = program.arrays[access.array]
            outside = _leaving(access.relation, array, program.symbols, program.context) if access.exact else None
            if outside is not None:
                context = context.subtract(outside)
    return isl.text_of(context.coalesce())


@lru_cache(maxsize=4096)
def _leaving(relation: str, array: Array, symbols: tuple[str, ...], context: str) -> isl.Set | None:
    """The sizes for which an access leaves its array; None if there are none."""
    touched = isl.parse_map(relation).intersect_params(isl.parse_set(context))
    cells = _cells(array, tuple(range(array.times, array.rank)), symbols)
    return None if touched.range().is_subset(cells) else touched.subtract_range(cells).params()
