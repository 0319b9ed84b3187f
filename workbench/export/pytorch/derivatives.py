"""The gradient of an operator of PyTorch as an operator: which it is, and how the backward pass calls it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from workbench.errors import OperatorError
from workbench.export.dispatch import Family, family_like
from workbench.export.pytorch.schema import Argument, arguments_of
from workbench.lang import astype, grad
from workbench.records import record


@record(eq=False)
class Derivative:
    """The operator `name` gives the gradients by the arguments `wrt`, whose places are `inputs`.

    `rows` say what it is called with: ("i", place of an argument of the forward call), or ("d", number of the result
    whose gradient it is).
    """

    name: str
    wrt: tuple[str, ...]
    families: tuple[Family, ...]
    rows: tuple[tuple[str, int], ...]
    inputs: tuple[int, ...]


def derivative(name: str, families: Sequence[Family], wrt: Sequence[str]) -> Derivative:
    """The gradient of an operator called `name` by some arguments; WorkbenchError where there is none."""
    arguments = arguments_of(families[0])
    gradients = [grad(family.op, wrt) for family in families]
    every = sum(a.type == "Tensor" for a in arguments)
    own = f"{name}_grad" if len(wrt) == every else f"{name}_grad_{'_'.join(wrt)}"
    seeds = gradients[0].parameters[len(arguments) - sum(a.keyword for a in arguments) :]
    made = tuple(family_like(*pair, seeds) for pair in zip(families, gradients, strict=True))
    places = {a.name: n for n, a in enumerate(arguments)}
    rows = _rows(families[0], made[0], arguments, places)
    return Derivative(own, tuple(wrt), made, rows, tuple(places[name] for name in wrt))


def _rows(
    family: Family, gradient: Family, arguments: Sequence[Argument], places: dict[str, int]
) -> tuple[tuple[str, int], ...]:  # fmt: skip
    """Forward arguments first, then the gradients of the results of floats."""
    smooth = [n for n, o in enumerate(family.op.outputs) if family.op.tensors[o].dtype.is_float]
    forward = len(arguments) - sum(a.keyword for a in arguments)
    rows = []
    for n, taken in enumerate(arguments_of(gradient)):
        if taken.keyword:
            rows.append(("i", places[taken.name]))
        else:
            rows.append(("i", n) if n < forward else ("d", smooth[n - forward]))
    return tuple(rows)


def families_for(family: Family) -> tuple[Family, ...]:
    """The family, and where the element type is the caller's to choose, one for the wide type of its kind."""
    for wide in ("double", "int64") if family.op.generic else ():
        with suppress(OperatorError):  # of integers only, or of floats
            return (family, family_like(family, astype(family.op, wide)))
    return (family,)
