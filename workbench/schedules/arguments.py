"""What may be given to a step: names that become names in C, block sizes, trees that fit their program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from operator import index
from typing import Any, get_args

from workbench.errors import ScheduleError, shown, unknown_name
from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.expr import Expr, Index, Size, walk
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Loop, LoopKind, Mark, Sequence, Tree, statements

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
LONGEST_NAME = 200
LARGEST_BLOCK = (1 << 31) - 1
LARGEST_FACTOR = 1 << 40


def whole(value: Any) -> Any:
    """A number of any integer type as an int; anything else unchanged, to be refused where it is used."""
    if isinstance(value, bool):
        return value
    try:
        return index(value)
    except TypeError:
        return value


def block_size(loop: str, size: Any) -> int:
    """The block size of a loop; ScheduleError unless it is a positive 32-bit integer."""
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise ScheduleError(f"the block size of loop {loop!r} must be a positive integer, not {shown(size)}")
    if size > LARGEST_BLOCK:
        raise ScheduleError(f"the block size of loop {loop!r} must be at most {LARGEST_BLOCK}, not {shown(size)}")
    return size


def moderate(step: object, loop: str, row: Expr) -> Expr:
    """The row if its factors are far from where times leave 64 bits; ScheduleError otherwise."""
    for _, factor in polynomial(row).terms:
        if abs(factor) > LARGEST_FACTOR:
            raise ScheduleError(f"{step}: loop {loop!r} would count by {factor}; expected at most {LARGEST_FACTOR}")
    return row


def name_pair(loop: Any, names: Any) -> tuple[str, str]:
    """The (outer, inner) names for the halves of a loop."""
    if not isinstance(names, tuple | list) or len(names) != 2:
        raise ScheduleError(f'names= expected a pair such as ("m_o", "m_i") for loop {shown(loop)}, not {shown(names)}')
    outer, inner = map(new_name, names)
    return outer, inner


def new_name(name: Any, what: str = "loop") -> str:
    """A name for a loop or buffer: it becomes a variable of the generated code."""
    if not isinstance(name, str) or not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        rule = f"letters a to z, digits and _, not starting with a digit, at most {LONGEST_NAME} of them"
        raise ScheduleError(f"{shown(name)} cannot name a {what}; expected {rule}")
    return str(name)


def mapping(what: str, value: Any, example: str) -> Mapping[Any, Any]:
    """The value if it is a mapping; None is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ScheduleError(f"{what} expected a mapping such as {example}, not {shown(value)}")
    return value


def require_tree(program: Program, tree: Any) -> Tree:
    """The tree if each of its parts fits the program; ScheduleError says which does not."""
    if not isinstance(tree, Band | Sequence | Mark | Leaf):
        raise ScheduleError(f"affine: expected a schedule tree, not {shown(tree)}")
    own, new = sorted(s.id for s in program.statements), sorted(statements(tree))
    if own != new:
        raise ScheduleError(f"affine: the tree must hold each of {', '.join(own)} once, not {', '.join(new)}")
    _require_part(program, tree, ())
    return tree


def _require_part(program: Program, tree: Tree, outside: tuple[str, ...]) -> None:
    match tree:
        case Band(own, child):
            for loop in own:
                _require_loop(program, loop, statements(tree))
            inside = (*outside, *(loop.name for loop in own))
            if len(set(inside)) < len(inside):
                raise ScheduleError(f"affine: two loops of one nest have the same name ({', '.join(inside)})")
            _require_part(program, child, inside)
        case Mark(_, child):
            _require_part(program, child, outside)
        case Sequence(children):
            for child in children:
                _require_part(program, child, outside)


def _require_loop(program: Program, loop: Loop, below: Iterable[str]) -> None:
    new_name(loop.name)
    if loop.kind not in get_args(LoopKind):
        raise ScheduleError(f"affine: loop {loop.name!r} is {shown(loop.kind)}; known: {', '.join(get_args(LoopKind))}")
    if sorted(s for s, _ in loop.rows) != sorted(below):
        raise ScheduleError(f"affine: loop {loop.name!r} needs one row for each of {', '.join(sorted(below))}")
    for identifier, row in loop.rows:
        known = (*program.statement(identifier).dims, *program.symbols, *program.sizes)
        for node in walk(row):
            if isinstance(node, Index | Size) and node.name not in known:
                raise ScheduleError(f"affine, loop {loop.name!r}: {unknown_name('dimension', node.name, known)}")
