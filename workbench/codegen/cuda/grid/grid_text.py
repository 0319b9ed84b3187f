"""A grid on its way to kernels as text: the host's loops, and each kernel with what is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.codegen.cuda.grid.block_code import Around, Code, Parts, Piece, Sync
from workbench.codegen.cuda.grid.kernels import Grid, HostNode, KernelNest
from workbench.codegen.cuda.grid.launches import shown_amount
from workbench.codegen.nest.nest import Define, For, If
from workbench.codegen.nest.nest_text import INDENT, loop_text, nest_lines
from workbench.lang.printing.printer import show

Names = Mapping[str, str]


def grid_lines(grid: Grid, statements: Names) -> list[str]:
    """The lines of a grid; `statements` gives the name of each statement by id."""
    known = [f"which thread executes an iteration of {statements[s]} is not known" for s in sorted(grid.shifted)]
    known += [f"thread 0 along {axis} executes {statements[s]} at {show(at)}" for (s, axis), at in grid.starts.items()]
    if not grid.steps:
        return [*known, *nest_lines(grid.nest, statements)]
    return [*known, *(line for node in grid.steps for line in _step(node, statements))]


def _step(node: HostNode, statements: Names) -> list[str]:
    if isinstance(node, KernelNest):
        return [f"kernel {node.name}".rstrip(), *_deeper([*_known(node, statements), *_body(node, statements)])]
    return [f"host: {loop_text(node.loop)}", *_deeper([x for n in node.body for x in _step(n, statements)])]


def _known(node: KernelNest, statements: Names) -> Iterator[str]:
    """What is known of a kernel beside its nest."""
    if node.extents.grid != (1, 1, 1) or node.extents.block != (1, 1, 1):
        grid, block = (" x ".join(map(shown_amount, amounts)) for amounts in (node.extents.grid, node.extents.block))
        yield f"{grid} blocks of {block} threads"
    for array, place in node.places.items():
        first = ", where it begins as 0" if array in node.cleared else ""
        yield f"{array} in {PLACES[place]}{first}"
    if node.shared:
        yield f"the block declares {', '.join(node.shared)}"
    if node.aligned:
        yield f"aligned: {', '.join(sorted(node.aligned))}"
    for statement in sorted(node.late):
        yield f"{statements[statement]} copies asynchronously"


PLACES = {"workspace": "the workspace", "shared": "shared memory", "thread": "registers of each thread"}


def _body(node: KernelNest, statements: Names) -> list[str]:
    return nest_lines(node.nest, statements) if node.code is None else _code(node.code, statements)


def _code(code: Code, statements: Names) -> list[str]:
    match code:
        case Piece(nest):
            return nest_lines(nest, statements)
        case Sync():
            return [wait_text(code)]
        case Parts(parts):
            return [line for part in parts for line in _code(part, statements)]
        case Around(node, body, otherwise):
            lines = [_head(node), *_deeper(_code(body, statements))]
            return lines if otherwise is None else [*lines, "else", *_deeper(_code(otherwise, statements))]


def wait_text(sync: Sync) -> str:
    """A wait in a line, with what it is for: `threads wait: A, written by another thread`."""
    copies = "" if sync.pending is None else ", for all copies"
    youngest = f" but the youngest {sync.pending} groups" if sync.pending else ""
    why = f": {'; '.join(sync.why)}" if sync.why else ""
    return f"threads wait{copies}{youngest}{why}"


def _head(node: For | If | Define) -> str:
    """The line of a loop, guard or definition that all threads of a block execute alike."""
    match node:
        case For():
            return loop_text(node)
        case If(condition):
            return f"if {show(condition)}"
    return f"{node.variable} is {show(node.value)}"


def _deeper(lines: list[str]) -> list[str]:
    return [INDENT + line for line in lines]
