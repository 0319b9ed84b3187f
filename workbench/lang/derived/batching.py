"""`wb.vmap`: an operator with one more axis, from its definition."""

from __future__ import annotations

from dataclasses import replace

from workbench.errors import OperatorError, shown
from workbench.lang.algebra.normal_form import bound
from workbench.lang.algebra.polynomial import ZERO
from workbench.lang.derived.text.source import Names, source, walked
from workbench.lang.derived.text.writing import Derived
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Expr, Index, Read, Size, integer, reads, transform
from workbench.lang.operator import For, Operator, Range, Statement, Step, Target, Tensor
from workbench.lang.resolve.generics import instantiate

InAxes = int | None | tuple[int | None, ...] | list[int | None]


def vmap(op: Operator, in_axes: InAxes = 0) -> Operator:
    """The operator for many inputs at once: each input in `in_axes` has one more axis, each output a new first one.

    `in_axes` is the place of the new axis in every input, None for what all have in common, or a tuple with one of
    these for each input.  Integer scalars that shape the program are common to all.  An output that is given as
    `out=` has the new axis as well (as `jax.vmap` does it: Frostig, Johnson and Leary 2018).

    >>> from workbench.lang import operator
    >>> dot = operator("def dot(float(N) x, float(N) y) -> (s) { s +=! x(i) * y(i) }")
    >>> print(vmap(dot, in_axes=(0, None)))
    def dot_vmap(float(B, N) x, float(N) y) -> (s) {
        s(b) +=! x(b, i) * y(i)
    }
    """
    return _Batch(op, in_axes).operator()


class _Batch:
    """Which tensors have the new axis, and where."""

    def __init__(self, op: Operator, in_axes: InAxes) -> None:
        self.source = source(op, "vmap")
        self.op = self.source.op
        names = Names(self.source.taken())
        self.size, self.index = Size(names("B")), Index(names("b"))
        self.axes = self._given(in_axes)
        if not self.axes:
            raise OperatorError(f"vmap: no input of {op.name} has the new axis: in_axes={in_axes!r}")
        self._spread()

    def _given(self, in_axes: InAxes) -> dict[str, int]:
        """The place of the new axis in every input that has it."""
        op = self.op
        places = (in_axes,) * len(op.parameters) if in_axes is None or isinstance(in_axes, int) else in_axes
        if not isinstance(places, tuple | list) or any(not (p is None or isinstance(p, int)) for p in places):
            raise OperatorError(f"vmap: in_axes is an int, None, or a tuple of them, not {shown(in_axes)}")
        if len(places) != len(op.parameters):
            listed = ", ".join(op.parameters)
            raise OperatorError(
                f"vmap: in_axes has {len(places)} entries and {op.name} takes {len(op.parameters)} inputs: {listed}"
            )
        found = {}
        for name, place in zip(op.parameters, places, strict=True):
            if place is None or (name not in op.tensors and isinstance(in_axes, int)):
                continue
            found[name] = self._place(name, place)
        return found

    def _place(self, name: str, place: int) -> int:
        if name not in self.op.tensors:
            message = f"vmap: {name!r} shapes the program and is the same for all: give None for it in in_axes"
            raise OperatorError(message)
        rank = self.op.tensors[name].rank
        if not -rank - 1 <= place <= rank:
            raise OperatorError(f"vmap: in_axes has {place} for {name!r}, which then has {rank + 1} axes")
        return place % (rank + 1)

    def _spread(self) -> None:
        """What is computed from something with the axis has it too, and every output."""
        self.axes |= dict.fromkeys(self.op.outputs, 0)
        statements = [statement for statement, _ in walked(self.op.body)]
        changed = True
        while changed:
            changed = False
            for statement in statements:
                targets = {target.tensor for target in statement.targets} - self.axes.keys()
                inside = (s for target in statement.targets for s in target.subscripts)
                used = {each.tensor for each in reads(*statement.values, *inside)}
                joined = len(targets) < len(statement.targets)
                if targets and (joined or used & self.axes.keys()):
                    self.axes |= dict.fromkeys(targets, 0)
                    changed = True

    # --- the program

    def operator(self) -> Operator:
        op, define = self.op, self.source.define
        batched = {name: self._tensor(tensor) for name, tensor in op.tensors.items()}
        plain = {name for name in op.parameters if name not in self.axes}
        derived = Derived(
            self.source, f"{op.name}_vmap", op.parameters, op.outputs,
            {name: tensor for name, tensor in batched.items() if name not in plain},
            tuple(map(self._step, op.body)), self.source.narrow,
            tuple(p for p in op.promises if p.kind != "injective" or p.tensor not in self.axes),
            annotated=frozenset(p.name.name for p in define.outputs if p.type is not None),
        )  # fmt: skip
        kinds = [generic.kind.name if generic.kind else None for generic in define.generics]
        if not kinds:
            return derived.operator()
        found = replace(derived, kind=kinds[0]).operator()
        return found if kinds[0] is not None or _takes_integers(found) else derived.operator()

    def _tensor(self, tensor: Tensor) -> Tensor:
        if tensor.name not in self.axes:
            return tensor
        return replace(
            tensor,
            lower=self._inserted(tensor.name, tensor.lower, bound(ZERO)),
            extent=self._inserted(tensor.name, tensor.extent, self.size),
        )

    def _inserted(self, name: str, many: tuple[Expr, ...], one: Expr) -> tuple[Expr, ...]:
        at = self.axes[name]
        return (*many[:at], one, *many[at:])

    def _expr(self, expr: Expr) -> Expr:
        def change(node: Expr) -> Expr:
            if isinstance(node, Read) and node.tensor in self.axes:
                return Read(node.tensor, self._inserted(node.tensor, node.subscripts, self.index), node.dtype)
            return node

        return transform(expr, change)

    def _step(self, step: Step) -> Step:
        if isinstance(step, For):
            return For(step.axis, tuple(map(self._step, step.body)))
        return self._statement(step) if step.targets[0].tensor in self.axes else step

    def _statement(self, statement: Statement) -> Statement:
        new = Range(self.index.name, integer(0), self.size, "free")
        axes = tuple(r for r in statement.ranges if r.kind == "sequential")
        rest = tuple(r for r in statement.ranges if r.kind != "sequential")
        targets = tuple(
            Target(t.tensor, self._inserted(t.tensor, tuple(map(self._expr, t.subscripts)), self.index))
            for t in statement.targets
        )
        values = tuple(map(self._expr, statement.values))
        return replace(statement, targets=targets, values=values, ranges=(*axes, new, *rest))


def _takes_integers(op: Operator) -> bool:
    """Whether the text means something for a type of integers, too: no literal of floats stands beside the variable."""
    try:
        instantiate(op, dict.fromkeys(op.generic, INT32))
    except OperatorError:
        return False
    return True
