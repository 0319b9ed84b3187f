"""Random trees from a program's naive one: rows mixed, tiled, skewed, reversed; branches swapped; kinds
set.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from workbench.lang.dtypes import INT32
from workbench.lang.expr import Binary, Const, Expr, Unary
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, statements


def scramble(tree: Tree, random: Random, program: Program) -> Tree:
    """A tree over the same statements; usually a total order of the instances, often an illegal one."""
    match tree:
        case Leaf():
            return tree
        case Mark(_, child):
            return replace(tree, child=scramble(child, random, program))
        case Sequence(children):
            parts = [scramble(c, random, program) for c in children]
            if random.random() < 0.25:
                random.shuffle(parts)
            return Sequence(tuple(parts))
        case Band(loops, child):
            if isinstance(child, Sequence) and random.random() < 0.25:
                return _split(loops, child, random, program)
            changed = _change(list(loops), random)
            return Band(tuple(changed), scramble(child, random, program))
    raise AssertionError(tree)


def _split(loops: tuple[Loop, ...], child: Sequence, random: Random, program: Program) -> Tree:
    """Distribute a band over the children of its sequence."""
    parts = []
    for c in child.children:
        own = tuple(loop.only(set(statements(c))) for loop in loops)
        parts.append(scramble(Band(own, c), random, program))
    return Sequence(tuple(parts))


def _change(loops: list[Loop], random: Random) -> list[Loop]:
    if random.random() < 0.3:
        random.shuffle(loops)
    if random.random() < 0.4:
        at = random.randrange(len(loops))
        size = random.choice((2, 3))
        outer = _mapped(loops[at], lambda e: _by(e, "/", size), "_o")
        inner = _mapped(loops[at], lambda e: _by(e, "%", size), "_i")
        loops[at] = inner
        loops.insert(random.randrange(at + 1), outer)
    if len(loops) > 1 and random.random() < 0.3:
        into, by = random.sample(range(len(loops)), 2)
        loops[into] = _skewed(loops[into], loops[by])
    if random.random() < 0.15:
        at = random.randrange(len(loops))
        loops[at] = _mapped(loops[at], lambda e: Unary("-", e, INT32), "")
    if random.random() < 0.1:
        at = random.randrange(len(loops))
        loops[at] = _mapped(loops[at], lambda e: _by(e, "*", 2), "")
    if random.random() < 0.05:
        loops[random.randrange(len(loops))] = _mapped(loops[0], lambda e: _by(e, "/", 2), "_x")
    if random.random() < 0.5:
        at = random.randrange(len(loops))
        loops[at] = replace(loops[at], kind=random.choice(("parallel", "parallel", "vector", "unroll")))
    return loops


def _mapped(loop: Loop, change, suffix: str) -> Loop:
    return Loop(loop.name + suffix, tuple((s, change(e)) for s, e in loop.rows), loop.kind)


def _by(expr: Expr, op: str, size: int) -> Expr:
    return Binary(op, expr, Const(size, INT32), INT32)


def _skewed(loop: Loop, by: Loop) -> Loop:
    rows = dict(by.rows)
    return Loop(loop.name, tuple((s, Binary("+", e, rows[s], INT32)) for s, e in loop.rows), loop.kind)
