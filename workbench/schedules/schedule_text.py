"""The printed form of a schedule: its steps and its loops, as one writes them on a board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lang.expr import Index
from workbench.lang.printer import show
from workbench.poly.program import Program
from workbench.poly.tree import Band, Leaf, Loop, Mark, Sequence, Tree

if TYPE_CHECKING:
    from workbench.schedules.scheduled_program import Schedule


def schedule_sheet(schedule: Schedule) -> str:
    """Title, the steps one a line, then the tree."""
    program = schedule.program
    sizes = ", ".join(f"{k}={v}" for k, v in program.sizes.items())
    head = f"schedule of {program.name}" + (f" for {sizes}" if sizes else "")
    steps = [f"  {'naive' if i == 0 else '|'} {text}".rstrip() for i, text in enumerate(_lines(schedule))]
    return "\n".join([head, *steps, "loops", *tree_lines(program, schedule.tree, 1)])


def _lines(schedule: Schedule) -> list[str]:
    return ["", *(str(step) for step in schedule.trace)]


def tree_lines(program: Program, tree: Tree, depth: int) -> list[str]:
    """One line a loop or statement, indented by depth."""
    indent = "  " * depth
    match tree:
        case Leaf(identifier):
            statement = program.statement(identifier)
            return [f"{indent}{statement.name}({', '.join(statement.dims)})"]
        case Band(own, child):
            lines = [f"{'  ' * (depth + i)}{loop_line(loop)}" for i, loop in enumerate(own)]
            return lines + tree_lines(program, child, depth + len(own))
        case Mark(name, value, child):
            return [f"{indent}@{name} {value}", *tree_lines(program, child, depth + 1)]
        case Sequence(children):
            return [line for child in children for line in tree_lines(program, child, depth)]


def loop_line(loop: Loop) -> str:
    """`for m_o = m / 64  (parallel)`; a plain loop over a dim shows no expression."""
    texts = dict.fromkeys(show(row) for _, row in loop.rows)
    plain = all(isinstance(row, Index) and row.name == loop.name for _, row in loop.rows)
    value = "" if plain else f" = {' | '.join(texts)}"
    kind = "" if loop.kind == "serial" else f"  ({loop.kind})"
    return f"for {loop.name}{value}{kind}"
