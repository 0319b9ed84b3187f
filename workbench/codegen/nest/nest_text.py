"""A nest as text: every node on its line, writes with the instance they execute."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.codegen.nest.nest import (
    Accumulate,
    Block,
    Cell,
    Define,
    For,
    Hold,
    If,
    Invoke,
    Local,
    Nest,
    Place,
    Prefetch,
    Write,
)
from workbench.lang.operator import Monoid
from workbench.lang.printing.printer import show

INDENT = "  "


def nest_lines(nest: Nest, statements: Mapping[str, str]) -> list[str]:
    """The lines of a nest; `statements` gives the name of each statement by id."""
    match nest:
        case Block(body):
            return [line for part in body for line in nest_lines(part, statements)]
        case Write():
            return [_write(nest, statements)]
        case For():
            return [loop_text(nest), *_inside(nest.body, statements)]
        case If(condition, then, otherwise):
            lines = [f"if {show(condition)}", *_inside(then, statements)]
            return lines if otherwise is None else [*lines, "else", *_inside(otherwise, statements)]
        case Define(variable, value, body):
            return [f"{variable} is {show(value)}", *_inside(body, statements)]
        case Hold(name, value, body):
            return [f"hold {name} = {show(value)}", *_inside(body, statements)]
        case Place(array, body):
            return [f"place {array}", *_inside(body, statements)]
        case Prefetch(cells, body, rows):
            each = f", {rows[0]} < {rows[1]}" if rows else ""
            return [f"prefetch {', '.join(map(_cell, cells))}{each}", *_inside(body, statements)]
        case Accumulate(locals_, _, body, _, _):
            return [f"registers {', '.join(map(_local, locals_))}", *_inside(body, statements)]
        case Invoke(kernel, arrays, sizes, body):
            given = [f"&{_cell(c)}" for c, _ in arrays] + [show(e) for e in sizes]
            return [f"call {kernel}({', '.join(given)}), which does", *_inside(body, statements)]


def _inside(nest: Nest, statements: Mapping[str, str]) -> list[str]:
    return [INDENT + line for line in nest_lines(nest, statements)]


def _write(write: Write, statements: Mapping[str, str]) -> str:
    name = statements.get(write.statement, write.statement)
    label = f"{name}({', '.join(map(show, write.instance))})"
    if write.group is not None:
        label = f"{write.group.instruction} for {write.group.variable} below {write.group.count}: {label}"
    cells, values = ", ".join(map(_cell, write.cells)), ", ".join(map(show, write.values))
    match write.reduction:
        case None:
            return f"{label}: {cells} = {values}"
        case Monoid(name=reduction) | reduction:
            return f"{label}: {'atomic ' if write.atomic else ''}{cells} {reduction}= {values}"


def loop_text(loop: For) -> str:
    """The line of a loop."""
    step = "" if loop.step == 1 else f" step {loop.step}"
    notes = [f"loop {loop.loop}"] if loop.loop not in ("", loop.variable) else []
    notes += [] if loop.kind == "serial" else [loop.kind]
    notes += [f"{loop.lanes} lanes"] if loop.lanes > 1 else []
    notes += [f"none from {show(loop.limit)} on"] if loop.limit is not None else []
    text = f"for {loop.variable} from {show(loop.lower)} below {show(loop.upper)}{step}"
    return f"{text}  ({', '.join(notes)})" if notes else text


def _cell(cell: Cell) -> str:
    return f"{cell.array}({', '.join(map(show, cell.subscripts))})" if cell.subscripts else cell.array


def _local(local: Local) -> str:
    places = "".join(f"[{x.variable}]" for x in local.dims)
    vector = f" of {local.lanes} lanes" if local.lanes > 1 else ""
    return f"{local.name}{places}{vector} for {'partial ' if local.partial else ''}{_cell(local.cell)}"
