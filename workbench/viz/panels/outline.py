"""The schedule tree for the front end: the nodes of `viz.tree` with names that steps and code lines can refer to."""

from __future__ import annotations

from typing import Any

from workbench.poly.program import Program
from workbench.poly.tree import Band, Leaf, Mark, Sequence, Tree, loops, statements
from workbench.schedules.schedule_text import loop_value
from workbench.viz.program_rows import statement_line


def tree_payload(program: Program, tree: Tree) -> list[dict[str, Any]]:
    """The outermost nodes, each with its children; a node's `id` says the way to it (`0.1.0`)."""
    names = [loop.name for loop in loops(tree)]
    return _numbered(_nodes(program, tree, {n for n in names if names.count(n) > 1}), "")


def _nodes(program: Program, tree: Tree, twice: set[str]) -> list[dict[str, Any]]:
    """Nodes without ids; `twice` are the names of loops that a step must say with a statement."""
    match tree:
        case Leaf(identifier):
            own = program.statement(identifier)
            number = [s.id for s in program.statements].index(identifier)
            return [_node("statement", own.name, program, tree, [], statement_line(own)) | {"number": number}]
        case Sequence(children):
            return [node for child in children for node in _nodes(program, child, twice)]
        case Mark(name, value, child):
            text = name if value is None else f"{name} {value}"
            return [_node("mark", text, program, child, _nodes(program, child, twice))]
        case Band(own, child):
            first = program.statement(statements(child)[0]).name
            nodes = _nodes(program, child, twice)
            for loop in reversed(own):
                step = f"{first}/{loop.name}" if loop.name in twice else loop.name
                node = _node("loop", loop.name, program, child, nodes, loop_value(program, loop))
                nodes = [node | {"kind": loop.kind, "step": step}]
            return nodes


def _node(
    kind: str, name: str, program: Program, tree: Tree, children: list[dict[str, Any]], detail: str = ""
) -> dict[str, Any]:
    below = [program.statement(s).name for s in statements(tree)]
    return {"type": kind, "name": name, "detail": detail, "statements": below, "children": children}


def _numbered(nodes: list[dict[str, Any]], way: str) -> list[dict[str, Any]]:
    return [
        node | {"id": f"{way}{i}", "children": _numbered(node["children"], f"{way}{i}.")}
        for i, node in enumerate(nodes)
    ]
