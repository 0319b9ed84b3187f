"""What the loops of one operator have to do with the axes of its arguments and results, as its program says it.

Two statements can share a loop only where every dependence between them stays within one iteration of it: the facts
here are which dimensions of two statements are equal along each dependence, and along which one each axis is walked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import product

from workbench.graph.fusion.open_sizes import Sizes, occurs, program_at
from workbench.graph.fusion.patterns import is_product
from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.expr import Expr, Index, index_names, reads
from workbench.lang.operator import For, Operator, Statement
from workbench.poly.dependence.flow import dependences
from workbench.poly.programs.program import Access, Program, ProgramStatement
from workbench.poly.sets import isl
from workbench.records import record

Axes = tuple[str | None, ...]
Pairs = frozenset[tuple[str, str]]


@record(slots=True)
class Touch:
    """A statement reads or writes a tensor: each axis from end to end along one dimension, or in another way (None).

    `once` says that no cell is touched twice.
    """

    statement: str
    axes: Axes
    once: bool


@record(slots=True)
class Link:
    """One statement after another, because of what both touch: dimensions that are equal where they do."""

    source: str
    target: str
    equal: Pairs


@record(slots=True)
class LoopAxes:
    """The facts of one operator; `dims` are the loops of each statement from the outside in.

    `pure` are the statements that assign one value to each cell of a tensor that nothing else writes, `products` those
    that add up products and get blocks of their own, `sums` all that reduce.
    """

    dims: Mapping[str, tuple[str, ...]]
    links: tuple[Link, ...]
    reads: Mapping[str, tuple[Touch, ...]]
    writes: Mapping[str, tuple[Touch, ...]]
    pure: frozenset[str]
    products: frozenset[str]
    sums: frozenset[str]
    across: frozenset[str]


@lru_cache(maxsize=1024)
def loop_axes(op: Operator, sizes: Sizes = ()) -> LoopAxes | None:
    """The facts of an operator; None where its subscripts are not affine at these sizes (the others stay open)."""
    statements = list(op.statements())
    if len(statements) == 1 and not isinstance(op.body[0], For) and not _reads_itself(statements[0]):
        return _of_one(op, statements[0], sizes)
    found = program_at(op, sizes)
    return None if found is None else _of_program(op, *found)


# --- one statement has no dependences but on itself


def _is_across(statement: Statement) -> bool:
    """Whether what it reads jumps where what it writes goes from neighbour to neighbour (a transposition)."""
    target = statement.targets[0].subscripts
    if statement.reduction is not None or not target:
        return False
    inner = index_names(target[-1])
    return any(inner & index_names(s) for r in reads(*statement.values) for s in r.subscripts[:-1]) and any(
        not inner & index_names(r.subscripts[-1]) for r in reads(*statement.values) if len(r.subscripts) > 1
    )


def _reads_itself(statement: Statement) -> bool:
    return bool({t.tensor for t in statement.targets} & {r.tensor for r in reads(*statement.values)})


def _of_one(op: Operator, statement: Statement, sizes: Sizes) -> LoopAxes:
    name, dims = statement.name, statement.indices()
    taken: dict[str, list[Touch]] = {}
    walks = _Walks(op)
    for read in dict.fromkeys(reads(*statement.values)):
        plain = _plain(read.subscripts)
        once = set(plain) >= set(dims) or (None in plain and _is_injective(op, sizes, read.tensor))
        taken.setdefault(read.tensor, []).append(Touch(name, walks.axes(name, read.tensor, read.subscripts), once))
    written = {t.tensor: (Touch(name, walks.axes(name, t.tensor, t.subscripts), True),) for t in statement.targets}
    found = frozenset({name})
    return LoopAxes(
        {name: dims}, (), {name: tuple(each) for name, each in taken.items()}, written,
        frozenset() if statement.reduction else found, found if is_product(statement) else frozenset(),
        found if statement.reduction else frozenset(), found if _is_across(statement) else frozenset(),
    )  # fmt: skip


def _plain(subscripts: Iterable[Expr]) -> Axes:
    """The dimensions that subscripts are."""
    return tuple(s.name if isinstance(s, Index) else None for s in subscripts)


class _Walks:
    """Which dimensions of the statements run along whole axes of tensors."""

    def __init__(self, op: Operator) -> None:
        self.op = op
        self.ranges = {(s.name, r.index): r for s in op.statements() for r in s.ranges}

    def axes(self, statement: str, tensor: str, subscripts: tuple[Expr, ...]) -> Axes:
        """The dimension along each axis, None where it is another subscript or does not reach both ends."""
        name = statement.removesuffix(".init")
        found = enumerate(_plain(subscripts))
        return tuple(dim if dim is not None and self._whole(name, dim, tensor, axis) else None for axis, dim in found)

    def _whole(self, statement: str, dim: str, tensor: str, axis: int) -> bool:
        walked, of = self.ranges.get((statement, dim)), self.op.tensors[tensor]
        if walked is None:
            return True  # the dimension of an initialisation, which is that of its cells
        lower = polynomial(of.lower[axis])
        same = (polynomial(walked.lower) - lower, polynomial(walked.upper) - lower - polynomial(of.extent[axis]))
        return not any(same)


def _is_injective(op: Operator, sizes: Sizes, tensor: str) -> bool:
    """Whether a tensor is read through one access that meets no cell twice."""
    found = program_at(op, sizes)
    if found is None:
        return False
    program, known = found
    own = [a for s in program.statements for a in s.reads if a.array == tensor]
    return len(own) == 1 and own[0].exact and _meets_once(own[0].relation, known)


def _meets_once(relation: str, known: Sizes) -> bool:
    return _is_injective_always(relation) or (bool(known) and not occurs(_meets_twice(relation), known))


@lru_cache(maxsize=4096)
@isl.guarded
def _is_injective_always(relation: str) -> bool:
    return bool(isl.parse_map(relation).is_injective())


@lru_cache(maxsize=4096)
@isl.guarded
def _meets_twice(relation: str) -> str:
    """The sizes at which two instances meet one cell (isl text)."""
    touched = isl.parse_map(relation)
    twice = touched.apply_range(touched.reverse())
    return isl.text_of(twice.subtract(twice.identity(twice.get_space())).params().coalesce())


# --- several statements: dependences as the polyhedral program has them


def _of_program(op: Operator, program: Program, known: Sizes) -> LoopAxes:
    read: dict[str, list[Touch]] = {}
    written: dict[str, list[Touch]] = {}
    walks = _Walks(op)
    for statement in program.statements:
        for access in statement.accesses:
            axes = walks.axes(statement.name, access.array, access.subscripts)
            if access.kind == "write":
                written.setdefault(access.array, []).append(Touch(statement.id, axes, True))
            elif not access.accumulates:
                touch = Touch(statement.id, axes, _meets_each_once(statement, access, known))
                read.setdefault(access.array, []).append(touch)
    for name, tensor in op.tensors.items():
        if tensor.rank == 0 and tensor.role == "input":
            scalars = [s.id for s in program.statements if any(r.tensor == name for r in reads(*s.values))]
            read[name] = [Touch(s, (), not program.statement(s).dims) for s in scalars]
    products = {s.name for s in op.statements() if is_product(s)}
    across = {s.name for s in op.statements() if _is_across(s)}
    return LoopAxes(
        {s.id: s.dims for s in program.statements},
        tuple(_links(program, known)),
        {name: tuple(dict.fromkeys(each)) for name, each in read.items()},
        {name: tuple(dict.fromkeys(each)) for name, each in written.items()},
        frozenset(_pure(program, written)),
        frozenset(s.id for s in program.statements if s.kind == "update" and s.name in products),
        frozenset(s.id for s in program.statements if s.kind == "update"),
        frozenset(s.id for s in program.statements if s.name in across),
    )


def _meets_each_once(statement: ProgramStatement, access: Access, known: Sizes) -> bool:
    plain = _plain(access.subscripts)
    if set(plain) >= set(statement.dims):
        return True
    return None in plain and access.exact and _meets_once(access.relation, known)


def _pure(program: Program, written: Mapping[str, list[Touch]]) -> Iterable[str]:
    for statement in program.statements:
        alone = all(len(written[a.array]) == 1 for a in statement.writes)
        if statement.kind == "assign" and alone and not {a.array for a in statement.reads} & {
            a.array for a in statement.writes
        }:
            yield statement.id


def _links(program: Program, known: Sizes) -> Iterable[Link]:
    for d in dependences(program):
        if d.kind != "reduction" and (not known or occurs(_sizes_of(d.relation), known)):
            source, target = program.statement(d.source), program.statement(d.target)
            yield Link(d.source, d.target, _equal(d.relation, source.dims, target.dims, known))


@lru_cache(maxsize=4096)
@isl.guarded
def _sizes_of(relation: str) -> str:
    """The sizes at which some pair is in a relation (isl text)."""
    return isl.text_of(isl.parse_map(relation).params().coalesce())


def _equal(relation: str, source: tuple[str, ...], target: tuple[str, ...], known: Sizes = ()) -> Pairs:
    """The dimensions that are equal in every pair of a relation."""
    if not known:
        return _equal_always(relation, source, target)
    differing = _differing(relation, len(source), len(target))
    return frozenset((source[i], target[j]) for (i, j), sizes in differing.items() if not occurs(sizes, known))


@lru_cache(maxsize=4096)
@isl.guarded
def _equal_always(relation: str, source: tuple[str, ...], target: tuple[str, ...]) -> Pairs:
    pairs = isl.parse_map(relation)
    return frozenset(
        (a, b)
        for i, a in enumerate(source)
        for j, b in enumerate(target)
        if pairs.is_subset(pairs.equate(isl.dim.in_, i, isl.dim.out, j))
    )


@lru_cache(maxsize=4096)
@isl.guarded
def _differing(relation: str, sources: int, targets: int) -> Mapping[tuple[int, int], str]:
    """The sizes at which two dimensions are not equal in some pair of a relation (isl text; nothing for none)."""
    pairs = isl.parse_map(relation)
    found = {}
    for i, j in product(range(sources), range(targets)):
        ends = isl.dim.in_, i, isl.dim.out, j
        sizes = pairs.order_lt(*ends).params().union(pairs.order_gt(*ends).params())
        found[i, j] = "" if sizes.is_empty() else isl.text_of(sizes.coalesce())
    return found
