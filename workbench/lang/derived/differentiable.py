"""By what an operator can be differentiated, and which of its tensors take part."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.derived.calculus.pullback import derivatives
from workbench.lang.derived.text.source import Source, chosen_names, walked
from workbench.lang.expr import index_names, reads
from workbench.lang.operator import Operator, Step


def inputs_chosen(source: Source, wrt: str | Iterable[str] | None) -> tuple[str, ...]:
    """Inputs of floats, all of them if none is named; OperatorError for others, with the place of their declaration."""
    op = source.op
    every = [*op.parameters, *(name for name in op.outputs if op.tensors[name].role == "inout")]
    known = [name for name in every if name in op.tensors and op.tensors[name].dtype.is_float]
    none = [name for name in known if any(polynomial(extent).constant == 0 for extent in op.tensors[name].extent)]
    for name in chosen_names(wrt, every, "wrt", ()):
        if name in none:
            message = f"{op.name} has no gradient by {name!r}, which has no cells for any sizes"
            raise source.error(message, source.of_tensor(name), "leave it out of wrt")
    known = [name for name in known if name not in none]
    for name in chosen_names(wrt, every, "wrt", known):
        if name not in known:
            kind = op.tensors[name].dtype.name if name in op.tensors else "a size of the program"
            there = f"there is one by {', '.join(known)}" if known else "no input is of floats"
            message = f"{op.name} has no gradient by {name!r}, which is {kind}"
            raise source.error(message, source.of_tensor(name), f"leave it out of wrt: {there}")
    if not known:
        message = f"{op.name} has no gradient: no input is of floats"
        raise source.error(message, source.define.name.span, "give it inputs of floats")
    return chosen_names(wrt, every, "wrt", known)


def active(steps: tuple[Step, ...], chosen: Iterable[str], outputs: Iterable[str], held: set[str]) -> set[str]:
    """Tensors that vary with the chosen inputs and on which some output depends."""
    statements = [statement for statement, _ in walked(steps)]
    varying = set(chosen) - held
    while True:
        new = {
            target.tensor
            for statement in statements
            for target, value in zip(statement.targets, statement.values, strict=True)
            if value.dtype.is_float and target.tensor not in held and derivatives(value, varying)
        } - varying
        if not new:
            break
        varying |= new
    useful = set(outputs)
    while True:
        new = {
            each.tensor
            for statement in statements
            if useful & {target.tensor for target in statement.targets}
            for each in reads(*statement.values)
        } - useful
        if not new:
            return varying & useful
        useful |= new


def index_names_of(op: Operator) -> dict[str, tuple[str, ...]]:
    """How the indices of a tensor are called: as where it is written or read first with one index in every place."""
    found: dict[str, tuple[str, ...]] = {}
    for statement, _ in walked(op.body):
        cells = [(target.tensor, target.subscripts) for target in statement.targets]
        cells += [(each.tensor, each.subscripts) for each in reads(*statement.values)]
        for name, subscripts in cells:
            names = [next(iter(own), "") for own in map(index_names, subscripts) if len(own) == 1]
            if len(set(names)) == len(subscripts) and names:
                found.setdefault(name, tuple(names))
    return found
