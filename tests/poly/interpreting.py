"""Runs scanned loops and evaluates time maps, by enumeration."""

from __future__ import annotations

from collections.abc import Iterator

from tests.poly.brute import Env, Key, number
from workbench.lang.expr import Const
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.witness import fix_sizes
from workbench.poly.time.loops import Block, Code, ForLoop, If, Let, Visit

Component = tuple[str, object, int]  # ("loop", the Loop or "sequence", value)


def visits(code: Code, env: Env) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Instances in the order the loops execute them."""
    match code:
        case Block(body):
            for part in body:
                yield from visits(part, env)
        case ForLoop(variable, _, lower, upper, step, _, body):
            assert step > 0
            assert variable not in env, f"{variable} hides another name"
            for value in range(number(lower, env), number(upper, env), step):
                yield from visits(body, {**env, variable: value})
        case Let(variable, _, value, body):
            assert variable not in env, f"{variable} hides another name"
            yield from visits(body, {**env, variable: number(value, env)})
        case If(condition, then, otherwise):
            if number(condition, env):
                yield from visits(then, env)
            elif otherwise is not None:
                yield from visits(otherwise, env)
        case Visit(statement, arguments):
            yield statement, tuple(number(a, env) for a in arguments)


def instances(program: Program, sizes: Env) -> list[tuple[str, tuple[int, ...]]]:
    """Every instance of the program at some sizes, by statement id."""
    left = {n: v for n, v in sizes.items() if n in program.symbols}
    return [
        (s.id, point)
        for s in program.statements
        for point in unpack.points(fix_sizes(isl.parse_set(s.domain), left))
    ]


def date(program: Program, tree: Tree, statement: str, point: tuple[int, ...], sizes: Env) -> list[Component]:
    """Time of an instance, component by component."""
    env = {**sizes, **dict(zip(program.statement(statement).dims, point, strict=True))}
    result: list[Component] = []
    while not isinstance(tree, Leaf):
        match tree:
            case Band(loops, child):
                result += [("loop", loop, number(loop.row(statement), env)) for loop in loops]
                tree = child
            case Mark(_, child):
                tree = child
            case Sequence(children):
                position = next(n for n, c in enumerate(children) if statement in _ids(c))
                result.append(("sequence", None, position))
                tree = children[position]
    return result


def dates(program: Program, tree: Tree, sizes: Env) -> dict[tuple[str, tuple[int, ...]], list[Component]]:
    """Times of all instances, loops inside lanes counted from where they begin in each lane."""
    found = {at: date(program, tree, *at, sizes) for at in instances(program, sizes)}
    begins: dict[tuple[object, ...], int] = {}
    keys = {at: list(_inside_lanes(own)) for at, own in found.items()}
    for own in keys.values():
        for _, key, value in own:
            begins[key] = min(begins.get(key, value), value)
    for at, own in keys.items():
        for place, key, value in own:
            kind, loop, _ = found[at][place]
            found[at][place] = (kind, loop, value - begins[key])
    return found


def _inside_lanes(own: list[Component]) -> Iterator[tuple[int, tuple[object, ...], int]]:
    """(place, loop with the times around it, value) of each loop inside lanes."""
    for place, (kind, loop, value) in enumerate(own):
        around = own[:place]
        if kind == "loop" and any(isinstance(x, Loop) and x.kind == "vector" for _, x, _ in around):
            yield place, (loop, *(v for _, _, v in around)), value


def _ids(tree: Tree) -> set[str]:
    match tree:
        case Leaf(s):
            return {s}
        case Band(_, child) | Mark(_, child):
            return _ids(child)
        case Sequence(children):
            return set().union(*map(_ids, children))


def judge(
    source: list[Component], target: list[Component], *, reduction: bool
) -> tuple[str, str | None] | None:
    """None when the pair is in order, else (reason, loop name): the definition of happens-before, spelt
    out.
    """
    lanes: str | None = None  # the vector loop that has the target in a later lane
    for (kind, loop, a), (_, _, b) in zip(source, target, strict=False):
        if a == b:
            continue
        name = loop.name if isinstance(loop, Loop) else None
        how = loop.kind if isinstance(loop, Loop) else kind
        if reduction and how in ("vector", "serial", "unroll"):
            return None
        if how == "parallel" or (how == "vector" and a > b):
            return "race", lanes or name
        if how == "vector":
            lanes = lanes or name
            continue
        if a < b:
            return None
        return ("race", lanes) if lanes else ("order", name)
    return ("race", lanes) if lanes else ("order", None)


def loop_structure(code: Code) -> list[Code]:
    """Every node, parents first."""
    match code:
        case Block(body):
            below = [n for part in body for n in loop_structure(part)]
        case ForLoop() | Let():
            below = loop_structure(code.body)
        case If(_, then, otherwise):
            below = loop_structure(then) + (loop_structure(otherwise) if otherwise else [])
        case _:
            below = []
    return [code, *below]


def is_number(expr: object, value: int) -> bool:
    return isinstance(expr, Const) and expr.value == value


__all__ = ["Component", "Key", "date", "instances", "is_number", "judge", "loop_structure", "visits"]
