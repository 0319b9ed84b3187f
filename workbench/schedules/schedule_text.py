"""The printed form of a schedule: its steps and its loops, as one writes them on a board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lang.expr import Const, Expr, Index, substitute
from workbench.lang.printing.printer import show
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree

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
            lines = [f"{'  ' * (depth + i)}{loop_line(program, loop)}" for i, loop in enumerate(own)]
            return lines + tree_lines(program, child, depth + len(own))
        case Mark(note, child):
            return [f"{indent}@{note}", *tree_lines(program, child, depth + 1)]
        case Sequence(children):
            return [line for child in children for line in tree_lines(program, child, depth)]


def loop_line(program: Program, loop: Loop) -> str:
    """`for m_o = m / 64  (parallel)`; a plain loop over a dim shows no expression."""
    value = loop_value(program, loop)
    kind = "" if loop.kind == "serial" else f"  ({loop.kind})"
    return f"for {loop.name}{' = ' if value else ''}{value}{kind}"


def loop_value(program: Program, loop: Loop) -> str:
    """What a loop counts: `m / 64`; `y in R, y + 2 in B` where statements differ; nothing for a plain dim.

    A statement that was made for a loop (a copy into a buffer) has a dim by its name: it adds nothing to what the
    others say.
    """
    known: dict[str, Expr] = {n: Const(v, Index("").dtype) for n, v in program.sizes.items()}
    texts = {s: show(substitute(row, known)) for s, row in loop.rows}
    others = {d for s, text in texts.items() if text != loop.name for d in program.statement(s).dims}
    if loop.name not in others:
        written = {s.id for s in program.original.statements}
        texts = {s: text for s, text in texts.items() if text != loop.name or s in written}
    if len(set(texts.values())) < 2:
        return "".join(set(texts.values()) - {loop.name})
    users: dict[str, list[str]] = {}
    for s, text in texts.items():
        users.setdefault(text, []).append(program.statement(s).name)
    return ", ".join(f"{text} in {' and '.join(names)}" for text, names in users.items())
