"""A schedule's tree as plain data: loops with what they count, statements with what they do."""

from __future__ import annotations

from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, LoopKind, Mark, Sequence, Tree
from workbench.records import record
from workbench.schedules.schedule_text import loop_value
from workbench.viz.draw.palette import statement_numbers
from workbench.viz.views.program.program_rows import statement_line


@record
class LoopNode:
    """`for name = detail`, executed as `kind` says, around `children`."""

    name: str
    detail: str
    kind: LoopKind
    children: tuple[Node, ...]


@record
class StatementNode:
    """A statement: `number` fixes its colour and mark, `line` what it computes."""

    name: str
    dims: tuple[str, ...]
    number: int
    line: str


@record
class MarkNode:
    """A remark for the code generator around `children`."""

    text: str
    children: tuple[Node, ...]


Node = LoopNode | StatementNode | MarkNode


def tree_data(program: Program, tree: Tree) -> tuple[Node, ...]:
    """What stands at the outermost level, in order of execution."""
    match tree:
        case Leaf(statement):
            own = program.statement(statement)
            return (StatementNode(own.name, own.dims, statement_numbers(program)[own.name], statement_line(own)),)
        case Sequence(children):
            return tuple(node for child in children for node in tree_data(program, child))
        case Mark(note, child):
            return (MarkNode(str(note), tree_data(program, child)),)
        case Band(own, child):
            nodes = tree_data(program, child)
            for loop in reversed(own):
                nodes = (LoopNode(loop.name, loop_value(program, loop), loop.kind, nodes),)
            return nodes
