"""Operator to Program: instances, accesses and the order a person would write.

Subscripts that known sizes make simpler are settled before: `(d·b) % s` is `b` for `d = 1` and `b < s`, `y + k` is `y`
for `k < 1`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from functools import lru_cache

from workbench.errors import LoweringError
from workbench.lang.algebra.facts import Facts
from workbench.lang.algebra.normal_form import bound as written
from workbench.lang.algebra.normal_form import is_index_arithmetic, polynomial, simplify
from workbench.lang.algebra.polynomial import number
from workbench.lang.expr import Binary, Const, Expr, Index, Read, substitute, transform
from workbench.lang.operator import For, Operator, Statement, Step, Target
from workbench.lang.ranges.intervals import Interval, highest, lowest
from workbench.poly.dependence.bounds import is_covered
from workbench.poly.programs.binding import Bound, arrays, check_sizes, context, open_conditions
from workbench.poly.programs.instances import Lowered, can_share_loops
from workbench.poly.programs.program import Array, Nest, Program, ProgramStatement
from workbench.poly.sets import isl
from workbench.records import record

Strides = Mapping[str, tuple[int, ...]]


def lower(op: Operator, sizes: Mapping[str, int] | None = None, strides: Strides | None = None) -> Program:
    """The polyhedral program of an operator for some sizes.

    `sizes` maps size symbols and shaping scalars to integers; what is left out stays symbolic.  `strides`
    maps tensor names to element strides (dense row-major otherwise).  A program is memoised: equal
    arguments give the same object.

    Raises LoweringError for unknown names, sizes that break a condition of the operator, and bounds or
    subscripts that are not affine while a symbol is left out (the message names it).
    """
    given = tuple(check_sizes(op, sizes or {}).items())
    layout = tuple(sorted((name, tuple(int(s) for s in steps)) for name, steps in (strides or {}).items()))
    return _lower(op, given, layout)


def bound(program: Program, sizes: Mapping[str, int]) -> Program:
    """The program with more of its sizes bound.

    Raises LoweringError for names that are not left symbolic, and for programs that schedule steps made.
    """
    if not sizes:
        return program
    if program.definition is None or program.parent is not None:
        raise LoweringError(f"{program.name}: the sizes of this program cannot be bound any more; bind them first")
    for name in sizes:
        if name in program.sizes:
            raise LoweringError(f"{program.name}: {name} is bound already, to {program.sizes[name]}")
    return lower(program.definition, {**program.sizes, **sizes})


@lru_cache(maxsize=256)
@isl.guarded
def _lower(
    op: Operator, sizes: tuple[tuple[str, int], ...], strides: tuple[tuple[str, tuple[int, ...]], ...]
) -> Program:
    program = _as_said(op, sizes, strides)
    return replace(program, arrays={name: _with_coverage(program, a) for name, a in program.arrays.items()})


def lower_as_said(op: Operator, sizes: Mapping[str, int]) -> Program:
    """The program that `lower` gives, but `partial` of its arrays is what the operator's types say.

    For readers of generated text, who do not need it: in linear subscripts (`C[i*n + j]`), whether every cell is
    written is a question that takes minutes.
    """
    return _as_said(op, tuple(check_sizes(op, sizes).items()), ())


@lru_cache(maxsize=256)
@isl.guarded
def _as_said(
    op: Operator, sizes: tuple[tuple[str, int], ...], strides: tuple[tuple[str, tuple[int, ...]], ...]
) -> Program:
    bound = Bound(op, dict(sizes))
    remaining = open_conditions(bound)
    build = _Builder(bound, arrays(bound, dict(strides)))
    order = tuple(item for step in op.body for item in build.step(step))
    return Program(
        name=op.name,
        operator=op.text,
        sizes=bound.sizes,
        symbols=bound.symbols,
        context=context(bound),
        arrays=build.arrays,
        parameters=op.parameters,
        outputs=op.outputs,
        statements=tuple(build.statements),
        order=order,
        conditions=remaining,
        definition=op,
    )


def _with_coverage(program: Program, array: Array) -> Array:
    """`partial` made exact where the writes are affine."""
    return array if array.role == "input" else replace(array, partial=not is_covered(program, array.name))


@record(frozen=False)
class _Builder:
    """Collects the statements while the naive nest is put together."""

    bound: Bound
    arrays: dict[str, Array]
    statements: list[ProgramStatement] = field(default_factory=list)

    def step(self, step: Step) -> Iterator[Nest | str]:
        """The part of the naive nest that one step of the operator becomes."""
        if isinstance(step, Statement):
            step = _with_settled_subscripts(self.bound, self.arrays, step)
        match step:
            case For(axis, body):
                yield Nest(axis.index, tuple(item for inner in body for item in self.step(inner)))
            case Statement() if step.initialise and not step.initialises_all:
                yield from self._reduction(step)
            case Statement():
                if step.initialise:
                    for target in dict.fromkeys(t.tensor for t in step.targets):
                        yield from self._alone(step, self._add(self._lowered(step).initialise_all(target)))
                yield from self._alone(step, self._add(self._lowered(step).compute()))

    def _reduction(self, step: Statement) -> Iterator[Nest | str]:
        """Initialisation and update: together inside the free loops where that means the same."""
        initial = self._add(self._lowered(step).initialise())
        update = self._add(self._lowered(step).compute())
        if can_share_loops(step, initial, update):
            around, shared = len(step.indices("sequential")), len(initial.dims)
            yield from nest(initial.dims[around:], (initial.id, *nest(update.dims[shared:], (update.id,))))
        else:
            yield from self._alone(step, initial)
            yield from self._alone(step, update)

    def _alone(self, step: Statement, lowered: ProgramStatement) -> Iterator[Nest | str]:
        yield from nest(lowered.dims[len(step.indices("sequential")) :], (lowered.id,))

    def _lowered(self, step: Statement) -> Lowered:
        return Lowered(self.bound, self.arrays, step, f"S{len(self.statements)}")

    def _add(self, lowered: ProgramStatement) -> ProgramStatement:
        taken = {s.name for s in self.statements}
        if lowered.name in taken:
            lowered = replace(lowered, name=f"{lowered.name}.{lowered.id}")
        self.statements.append(lowered)
        return lowered


def nest(dims: tuple[str, ...], body: tuple[Nest | str, ...]) -> tuple[Nest | str, ...]:
    """Loops over `dims`, from the outside in, around `body`."""
    for dim in reversed(dims):
        body = (Nest(dim, body),)
    return body


Spans = dict[str, Interval]


def _with_settled_subscripts(bound: Bound, arrays: dict[str, Array], statement: Statement) -> Statement:
    """The statement with known sizes in its subscripts, which have no divisions whose quotient is 0 for all indices.

    An index that has one value is that number where a read adds it to others.  A target of which `!` sets every cell
    keeps its subscripts unless its indices reach every cell.
    """
    if not bound.sizes:
        return statement
    spans = {
        r.index: Interval(polynomial(bound.shape(r.lower)), polynomial(bound.shape(r.upper))) for r in statement.ranges
    }
    single = {name: written(each.lower) for name, each in spans.items() if each.upper - each.lower == number(1)}

    def read(node: Expr) -> Expr:
        if not isinstance(node, Read):
            return node
        parts = (bound.bind(e) if isinstance(e, Index) else substitute(bound.bind(e), single) for e in node.subscripts)
        return replace(node, subscripts=tuple(_settled(e, spans) for e in parts))

    targets = tuple(
        Target(t.tensor, tuple(_settled(bound.bind(e), spans) for e in t.subscripts)) for t in statement.targets
    )
    if statement.initialise and not all(_covers(arrays[t.tensor], t, spans) for t in targets):
        targets = statement.targets
    return replace(statement, targets=targets, values=tuple(transform(e, read) for e in statement.values))


def _settled(subscript: Expr, spans: Spans) -> Expr:
    def change(node: Expr) -> Expr:
        if not (isinstance(node, Binary) and node.op in ("/", "%") and _is_below(node.left, node.right, spans)):
            return node
        return node.left if node.op == "%" else Const(0, node.dtype)

    changed = transform(subscript, change)
    return simplify(changed, subscript.dtype) if is_index_arithmetic(changed) else changed


def _is_below(dividend: Expr, divisor: Expr, spans: Spans) -> bool:
    """Whether `0 <= dividend < divisor` for all indices, as far as intervals tell."""
    most = polynomial(divisor).constant
    if most is None or not is_index_arithmetic(dividend):
        return False
    form, sign = polynomial(dividend), Facts().sign
    low, high = lowest(form, spans, sign), highest(form, spans, sign)
    if low is None or high is None or low.constant is None or high.constant is None:
        return False
    return low.constant >= 0 and high.constant < most


def _covers(array: Array, target: Target, spans: Spans) -> bool:
    """Whether the subscripts are indices of their own, each of which runs over a whole dimension."""
    names = [e.name for e in target.subscripts if isinstance(e, Index)]
    if len({*names}) < len(target.subscripts):
        return False
    box = zip(names, array.lower, array.extent, strict=True)
    return all(spans[n] == Interval(polynomial(a), polynomial(a) + polynomial(b)) for n, a, b in box)
