"""Loops that only line up what runs one after another are taken apart; the order stays the same.

isl gives a statement with fewer dims than its neighbours a constant place in their loops (`C.init` at `k = 0`), and
may run one nest's values after another's in a single loop (`o`, then `p + O`).  Where nothing overlaps, the parts stand
in a sequence instead, and the loops need no guards.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, index_names, substitute
from workbench.poly.programs.affine import affine_text
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, statements
from workbench.poly.sets import isl
from workbench.poly.time.timemap import instance, prefix, row, row_text


@isl.guarded
def hoisted(program: Program, tree: Tree) -> Tree:
    """The same order with as little as possible inside loops."""
    match tree:
        case Leaf():
            return tree
        case Mark(note, child):
            return Mark(note, hoisted(program, child))
        case Sequence(children):
            return Sequence(tuple(hoisted(program, c) for c in children))
        case Band(loops, child):
            return _band(program, loops, hoisted(program, child))


def _band(program: Program, loops: tuple[Loop, ...], child: Tree) -> Tree:
    """Innermost loop first: what leaves it may leave the next one as well."""
    for position in reversed(range(len(loops))):
        child = _loop(program, loops[position], child)
    return child


def _loop(program: Program, loop: Loop, child: Tree) -> Tree:
    parts: list[Tree] = list(child.children) if isinstance(child, Sequence) else [child]
    before: list[Tree] = []
    after: list[Tree] = []
    while parts and _leaves(program, loop, parts[0], parts[1:], "<"):
        before.append(parts.pop(0))
    while parts and _leaves(program, loop, parts[-1], parts[:-1], ">"):
        after.insert(0, parts.pop())
    inside = [_grouped(program, loop, group) for group in _groups(program, loop, parts)]
    found = [*before, *inside, *after]
    return found[0] if len(found) == 1 else Sequence(tuple(found))


def _grouped(program: Program, loop: Loop, parts: list[Tree]) -> Tree:
    """The loop around some of its parts; a constant that all their rows have in common is left out."""
    kept = parts[0] if len(parts) == 1 else Sequence(tuple(parts))
    own = loop.only(set(statements(kept)))
    rows = [(s, row(own, program.statement(s), program)) for s, _ in own.rows]
    constants = {_constant(r) for _, r in rows}
    if len(constants) == 1:
        own = replace(own, rows=tuple((s, simplify(Binary("-", r, _constant(r), INT64))) for s, r in rows))
    return _around(own, kept)


def _constant(expr: Expr) -> Expr:
    """What is left of a row at the origin."""
    return simplify(substitute(expr, {name: Const(0, INT64) for name in index_names(expr)}))


def _groups(program: Program, loop: Loop, parts: list[Tree]) -> list[list[Tree]]:
    """Parts whose values of the loop overlap, in the order of these values."""
    groups: list[list[Tree]] = []
    for part in parts:
        own = [part]
        while True:
            sides = [_sides(program, loop, group, own) for group in groups]
            meeting = [g for g, side in zip(groups, sides, strict=True) if not side]
            if not meeting:
                break
            groups = [g for g in groups if g not in meeting]
            own = [x for x in parts if x in own or any(x in g for g in meeting)]
        places = [i for i in range(len(groups) + 1) if _between(sides, i)]
        if not places:
            return [parts]
        groups.insert(places[-1], own)
    return groups


def _between(sides: list[str], place: int) -> bool:
    """Whether what has these sides to some groups may stand before the group at a place."""
    return all("<" in side for side in sides[:place]) and all(">" in side for side in sides[place:])


def _sides(program: Program, loop: Loop, group: list[Tree], other: list[Tree]) -> str:
    """`<` if the group's values all come before the other's, `>` if after; both if they never meet in one program."""
    a, b = (_values(program, loop, [s for t in trees for s in statements(t)]) for trees in (group, other))
    return ("<" if a.lex_ge_set(b).is_empty() else "") + (">" if a.lex_le_set(b).is_empty() else "")


def _values(program: Program, loop: Loop, ids: list[str]) -> isl.Set:
    """The values some statements take in a loop."""
    found = []
    for s in map(program.statement, ids):
        text = f"{prefix(program)}{{ {instance(s)} -> [{row_text(loop, s, program)}] }}"
        domain = isl.parse_set(s.domain).intersect_params(isl.parse_set(program.context))
        found.append(domain.apply(isl.parse_map(text)))
    return reduce(isl.Set.union, found)


def _around(loop: Loop, child: Tree) -> Band:
    if isinstance(child, Band):
        return Band((loop, *child.loops), child.child)
    return Band((loop,), child)


def _leaves(program: Program, loop: Loop, part: Tree, others: list[Tree], wrong: str) -> bool:
    """Whether a part is executed at one value of the loop, which no other part passes on the wrong side."""
    own = [row(loop, program.statement(s), program) for s in statements(part)]
    if any(index_names(r) for r in own) or len({simplify(r) for r in own}) != 1:
        return False
    place = affine_text(own[0])
    return not any(_beyond(program, loop, s, wrong, place) for other in others for s in statements(other))


def _beyond(program: Program, loop: Loop, identifier: str, wrong: str, place: str) -> bool:
    """Whether some instance of a statement has a component before (`<`) or after (`>`) a place."""
    s = program.statement(identifier)
    domain = isl.parse_set(s.domain).intersect_params(isl.parse_set(program.context))
    text = f"{prefix(program)}{{ {instance(s)} : {row_text(loop, s, program)} {wrong} {place} }}"
    return not domain.intersect(isl.parse_set(text)).is_empty()
