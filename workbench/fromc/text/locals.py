"""Where a local variable lives: in which loops each iteration may have its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pycparser import c_ast


def identifiers_in(node: Any) -> Iterator[str]:
    """Every identifier below a node."""
    if isinstance(node, c_ast.ID):
        yield node.name
    for _, child in node.children():
        yield from identifiers_in(child)


def assigned_names(node: Any) -> Iterator[str]:
    """Names (of scalars and arrays) that statements below assign; the heads of loops do not count."""
    match node:
        case c_ast.For(init=init, stmt=body):
            if isinstance(init, c_ast.DeclList):
                for declaration in init.decls[1:]:
                    yield declaration.name
            yield from assigned_names(body)
            return
        case c_ast.Assignment(lvalue=target):
            yield from _base(target)
        case c_ast.UnaryOp(op="p++" | "p--" | "++" | "--", expr=target):
            yield from _base(target)
    for _, child in node.children():
        yield from assigned_names(child)


def _base(node: Any) -> Iterator[str]:
    while isinstance(node, c_ast.ArrayRef):
        node = node.name
    if isinstance(node, c_ast.UnaryOp):
        yield from identifiers_in(node)
    if isinstance(node, c_ast.ID):
        yield node.name


def loop_variables(node: Any) -> Iterator[str]:
    """Names that heads of loops below set."""
    match node:
        case c_ast.For(init=c_ast.Assignment(lvalue=c_ast.ID(name=name))):
            yield name
    for _, child in node.children():
        yield from loop_variables(child)


def homes(items: list[Any]) -> dict[int, list[Any]]:
    """Loop (by its `id`) → declarations of scalars outside it that each of its iterations may have for itself.

    A scalar used in one loop only, whose body writes it before anything in it reads it, carries nothing from
    iteration to iteration.
    """
    found: dict[int, list[Any]] = {}
    for position, item in enumerate(items):
        if isinstance(item, c_ast.Decl) and isinstance(item.type, c_ast.TypeDecl) and item.init is None:
            home = _home(item.name, items[position + 1 :])
            if home is not None:
                found.setdefault(id(home), []).append(item)
    return found


def _home(name: str, items: list[Any]) -> Any:
    """The innermost loop of which every iteration writes the scalar before it reads it, if all uses are inside."""
    users = [item for item in items if name in identifiers_in(item) or name in _declared(item)]
    if len(users) != 1 or not isinstance(users[0], c_ast.For):
        return None
    loop = users[0]
    if name in [n for part in (loop.init, loop.cond, loop.next) if part is not None for n in identifiers_in(part)]:
        return None
    body = list(loop.stmt.block_items or ()) if isinstance(loop.stmt, c_ast.Compound) else [loop.stmt]
    inner = _home(name, body)
    if inner is not None:
        return inner
    first = next((item for item in body if name in identifiers_in(item)), None)
    match first:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target), rvalue=value) if target == name:
            shadowed = any(name in _declared(item) for item in body)
            return None if name in identifiers_in(value) or shadowed else loop
    return None


def _declared(node: Any) -> Iterator[str]:
    if isinstance(node, c_ast.Decl) and node.name:
        yield node.name
    for _, child in node.children():
        yield from _declared(child)
