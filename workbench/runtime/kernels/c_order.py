"""Calls as C writes them: sizes, numbers and arrays in the order of the C function, arrays updated in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import CallError
from workbench.poly.programs.program import Program

if TYPE_CHECKING:
    from workbench.fromc import Parameter, Raised


class Arguments(NamedTuple):
    """Inputs by name, outputs in order (None where nothing was given), sizes and integers by name."""

    inputs: dict[str, Any]
    out: Any
    sizes: dict[str, Any]


def in_c_order(program: Program | None, arrays: tuple[Any, ...], out: Any, scalars: dict[str, Any]) -> Arguments | None:
    """The arguments sorted; None where they are not those of a C function (and go on as they are)."""
    definition = None if program is None or out is not None else program.original.definition
    if program is None or definition is None or definition.language != "c":
        return None
    from workbench.fromc import raise_c  # the parser of C is not loaded for other programs

    raised = raise_c(definition.text)
    op = raised.operator
    names = _order(raised, set(program.sizes), len(arrays), set(scalars))
    given = {**dict(zip(names, arrays, strict=False)), **scalars}
    bound = program.sizes
    needed = (*op.outputs, *(p for p in op.parameters if p not in bound))
    missing = [name for name in needed if name not in given]
    if missing:
        written = ", ".join(op.outputs)
        takes = ", ".join(p.name for p in raised.parameters if _is_taken(p))
        raise CallError(
            f"{op.name}: missing {', '.join(missing)}: it updates {written} in place; give the arrays in the order of "
            f"C ({takes}), or as out=..."
        )
    outputs = tuple(given.pop(name) for name in op.outputs)
    inputs = {name: given.pop(name) for name in op.parameters if name in given and name in op.tensors}
    known = {*op.size_names, *op.scalars}
    unused = {p.name for p in raised.parameters if not p.used} - known
    sizes = {name: value for name, value in given.items() if name not in unused}
    return Arguments(inputs, outputs[0] if len(outputs) == 1 else outputs, sizes)


class Places(NamedTuple):
    """Where the arguments of a kernel stand among those of C, and the sizes it was compiled for."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    sizes: tuple[tuple[int, int], ...]


def c_positions(program: Program | None, inputs: Sequence[str], outputs: Sequence[str], count: int) -> Places | None:
    """The places among so many positional arguments in C's order; None where they tell more than they fill."""
    definition = None if program is None else program.original.definition
    if program is None or definition is None or definition.language != "c":
        return None
    from workbench.fromc import raise_c

    names = _order(raise_c(definition.text), set(program.sizes), count, set())
    at = {name: place for place, name in enumerate(names)}
    left = at.keys() - {*inputs, *outputs}
    if len(names) != count or not {*inputs, *outputs} <= at.keys() or not left <= program.sizes.keys():
        return None
    sizes = tuple((at[name], program.sizes[name]) for name in left)
    return Places(tuple(at[n] for n in inputs), tuple(at[n] for n in outputs), sizes)


def _order(raised: Raised, bound: set[str], count: int, named: set[str]) -> list[str]:
    """Names of positional arguments: all parameters, or those that are no sizes, or those that are not bound either."""
    op = raised.operator
    every = [p.name for p in raised.parameters if _is_taken(p) and p.name not in named]
    data = [n for n in every if n in op.tensors or n in op.scalars]
    free = [n for n in data if n not in bound]
    for names in (every, data, free):
        if len(names) == count:
            return names
    return free if count < len(free) else every


def _is_taken(parameter: Parameter) -> bool:
    return not parameter.c_type.endswith("*")
