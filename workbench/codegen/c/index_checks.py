"""Subscripts that are data.

Those that read only inputs are checked before the kernel writes anything: a function of their own walks the
dims they use.  Those that read what the kernel computes are checked where they are used, and replaced by the
first cell if they miss.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench import poly
from workbench.codegen.kernel import IndexCheck
from workbench.codegen.nest.from_program import nest_of
from workbench.codegen.nest.nest import Nest
from workbench.lang.algebra.normal_form import constant
from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Const, Expr, Read, Unary, conjunction, index_names, reads
from workbench.lang.printing.printer import show
from workbench.poly.programs.access import guarded_reads
from workbench.poly.programs.program import Nest as Order
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.records import record


@record
class Early:
    """A check before the kernel: a nest whose writes carry (subscript, guard) as values."""

    check: IndexCheck
    nest: Nest


@record
class Use:
    """One data-dependent subscript of a statement and the condition under which it is used."""

    statement: ProgramStatement
    array: str
    dimension: int
    subscript: Expr
    guard: Expr
    late: bool = False

    @property
    def check(self) -> IndexCheck:
        return IndexCheck(self.statement.name, self.array, self.dimension, show(self.subscript), self.late)


def uses(program: Program) -> list[Use]:
    """Every data-dependent subscript of the program."""
    return [use for s in program.statements for use in dict.fromkeys(_of_statement(s))]


def _of_statement(statement: ProgramStatement) -> Iterator[Use]:
    for array, subscripts in statement.targets:
        yield from _of_access(statement, array, subscripts, ())
    expressions = (*statement.values, *(e for _, subscripts in statement.targets for e in subscripts))
    for expr in expressions:
        for read, guards in guarded_reads(expr):
            yield from _of_access(statement, read.tensor, read.subscripts, guards)


def _of_access(
    statement: ProgramStatement,
    array: str,
    subscripts: tuple[Expr, ...],
    guards: tuple[tuple[Expr, bool], ...],
) -> Iterator[Use]:
    conditions = [c if holds else Unary("!", c, BOOL) for c, holds in guards]
    for dimension, subscript in enumerate(subscripts):
        if reads_data(subscript):
            yield Use(statement, array, dimension, subscript, conjunction(conditions))


def reads_data(expr: Expr) -> bool:
    """Whether the subscript depends on the contents of an array or scalar."""
    return any(reads(expr))


def known_before(program: Program, use: Use) -> bool:
    """Whether subscript and guard read inputs only."""
    return all(program.arrays[r.tensor].role == "input" for r in reads(use.subscript, use.guard))


def early_checks(program: Program) -> list[Early]:
    """The checks that can be made before anything is written.

    The inner ones first: to check T(P(I(n))), P is read at places that must have been checked.
    """
    known = [use for use in uses(program) if known_before(program, use)]
    known.sort(key=lambda use: _depth(use.subscript, use.guard))
    return [Early(replace(use.check, seen=_seen(program, use)), _walk(program, use)) for use in known]


def _seen(program: Program, use: Use) -> tuple[str, int, int] | None:
    """The input and the range, where every cell of the input is a subscript that is always used."""
    array, read = program.arrays[use.array], use.subscript
    if not isinstance(read, Read) or use.guard != conjunction([]):
        return None
    if not poly.reads_all(program, use.statement.id, read):
        return None
    lower, extent = constant(array.lower[use.dimension]), constant(array.extent[use.dimension])
    return None if lower is None or extent is None else (read.tensor, lower, lower + extent)


def _depth(*exprs: Expr) -> int:
    """How many reads stand inside one another."""
    return max((1 + _depth(*read.subscripts) for read in reads(*exprs)), default=0)


def late_uses(program: Program) -> list[Use]:
    """The subscripts that only the running kernel knows, by the dimensions that have places."""
    found = []
    for use in uses(program):
        kept = program.arrays[use.array].kept
        if not known_before(program, use) and (kept is None or use.dimension in kept):
            place = use.dimension if kept is None else kept.index(use.dimension)
            found.append(replace(use, late=True, dimension=place))
    return found


def emptiness_check(program: Program, use: Use) -> Early:
    """Whether an array without cells would be reached at all: what a late use needs to know beforehand."""
    first = program.arrays[use.array].lower[use.dimension]
    return Early(use.check, _walk(program, replace(use, subscript=first, guard=Const(True, BOOL))))


def _walk(program: Program, use: Use) -> Nest:
    """Loops over the dims that subscript and guard use, around one write that stands for the check."""
    names = index_names(use.subscript) | index_names(use.guard)
    dims = tuple(d for d in use.statement.dims if d in names)
    check = replace(
        use.statement,
        dims=dims,
        domain=poly.projected(program, use.statement.id, dims),
        kind="assign",
        targets=(),
        values=(use.subscript, use.guard),
        reduction=None,
        accesses=(),
    )
    order: Order | str = check.id
    for dim in reversed(dims):
        order = Order(dim, (order,))
    # Programs are equal by their text.
    name = f"{program.operator}\ncheck {use.check} in {check.domain}: {check.values}"
    small = replace(program, operator=name, statements=(check,), order=(order,), reference=None)
    return nest_of(small, poly.scan(small, poly.naive_tree(small)))
