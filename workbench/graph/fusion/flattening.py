"""A definition that calls others as one that does not: what is read once is written where it is read."""

from __future__ import annotations

from dataclasses import replace

from workbench.errors import OperatorError
from workbench.graph.fusion.patterns import is_product
from workbench.lang.algebra.normal_form import bound, polynomial
from workbench.lang.derived.forward.stepping import read, written
from workbench.lang.derived.inlining import inlined
from workbench.lang.derived.text.source import Source, walked
from workbench.lang.derived.text.writing import Derived
from workbench.lang.expr import Const, Expr, Index, children, reads
from workbench.lang.operator import Operator, Range, Statement, Step, Target, Tensor

DEEPEST = 40
"""Levels of an expression, about: the language reads 200."""


def flattened(op: Operator) -> Operator | None:
    """The operator without calls; None where that would not say the same.

    A temporary that one later statement reads once is written there, if each of its cells is set; others are filled
    with 0 first.  A monoid stays.

    >>> from workbench.lang import operators
    >>> text = "def a(float(N) x) -> (y) { y(i) = x(i) + 1 }  def b(float(N) x) -> (z) { t = a(x)  z = a(t) }"
    >>> print(flattened(operators(text)["b"]))
    def b(float(N) x) -> (z) {
        z(i) = x(i) + 1.0 + 1.0
    }
    """
    body = tuple(_products_last(inlined(_filled(op), {*op.outputs, *_partial(op), *_deep(op)})))
    shaped = frozenset(name for name in op.outputs if op.tensors[name].partial)
    derived = Derived(
        Source(op, op), op.name, op.parameters, op.outputs, dict(op.tensors), body, frozenset(), op.promises,
        annotated=shaped, kind=None,
    )  # fmt: skip
    try:
        flat = derived.briefly() or derived.operator()
    except OperatorError:
        return None
    return flat if _says(flat) == _says(op, set(flat.tensors)) else None


def _products_last(steps: list[Step]) -> list[Step]:
    """What does not wait for a product stands before it, so that what does follows it at once."""
    first = next((at for at, step in enumerate(steps) if isinstance(step, Statement) and is_product(step)), len(steps))
    early, late = steps[:first], steps[first:]
    for step in steps[first + 1 :]:
        jumped = late[: late.index(step)]
        touched = {name for each in jumped for name in _read_by(each) | written(each)}
        changed = {name for each in jumped for name in written(each)}
        if not (written(step) & touched or _read_by(step) & changed):
            early.append(step)
            late.remove(step)
    return [*early, *late]


def _read_by(step: Step) -> set[str]:
    """The tensors that the statements of a step read."""
    return {name for statement, _ in walked((step,)) for name in read(statement)}


def _deep(op: Operator) -> set[str]:
    """Temporaries that are to stay, so that no expression nests deeper than one can read."""
    depths: dict[str, int] = {}
    kept: set[str] = set()
    for statement in op.statements():
        inside = (depths.get(r.tensor, 0) for r in reads(*statement.values))
        depth = max(map(_nesting, statement.values)) + max(inside, default=0)
        for target in statement.targets:
            depths[target.tensor] = depth if depth <= DEEPEST else 0
            kept |= {target.tensor} if depth > DEEPEST else set()
    return kept


def _nesting(value: Expr) -> int:
    return 1 + max(map(_nesting, children(value)), default=0)


def _partial(op: Operator) -> list[str]:
    """The temporaries of which some cell may not be written: it is 0."""
    return [name for name, tensor in op.tensors.items() if tensor.partial and tensor.role == "temporary"]


def _filled(op: Operator) -> list[Step]:
    """The steps, those temporaries set to 0 first: without calls nothing else tells how large they are."""
    steps: list[Step] = list(op.body)
    for name in _partial(op):
        first = next(at for at, step in enumerate(steps) if name in written(step))
        steps.insert(first, _zeros(op.tensors[name]))
    return steps


def _zeros(tensor: Tensor) -> Statement:
    names = [f"i{axis}" for axis in range(tensor.rank)]
    ranges = tuple(
        Range(name, lower, bound(polynomial(lower) + polynomial(extent)), "free")
        for name, lower, extent in zip(names, tensor.lower, tensor.extent, strict=True)
    )
    target = Target(tensor.name, tuple(map(Index, names)))
    zero = Const(0.0 if tensor.dtype.is_float else tensor.dtype.kind != "bool" and 0, tensor.dtype)
    return Statement(tensor.name, (target,), None, False, (zero,), ranges)


def _says(op: Operator, among: set[str] | None = None) -> tuple[object, ...]:
    """What a caller sees, and the boxes of temporaries; both must stay."""
    among = among or {*op.tensors}
    tensors = {n: replace(t, partial=t.partial and n in op.outputs) for n, t in op.tensors.items() if n in among}
    conditions = {condition.expr for condition in op.conditions}
    return op.parameters, op.outputs, op.size_names, op.scalars, tensors, conditions, op.promises
