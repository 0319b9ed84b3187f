"""Loop splitting: where a condition on the loop's variable decides between two values, the loop is divided.

    for x in lanes: P(x) = inside(y) && x >= 1 && x < 57 ? I(x - 1) : 0
    →   if (inside(y)) { for x < 1: P(x) = 0;  for 1 <= x < 57: P(x) = I(x - 1);  for x >= 57: P(x) = 0 }
        else for x: P(x) = 0

Index-set splitting: what is left is a copy and two fills, and lanes need no masks.  Loops without lanes stay as they
were written.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.nest.nest import Block, For, If, Nest, Write, children, only, rebuild
from workbench.codegen.passes.convexity import conjuncts
from workbench.codegen.passes.register_tiles.accumulators import iterations
from workbench.lang.algebra.normal_form import depends, growth, is_index_arithmetic, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import (
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Read,
    Select,
    conjunction,
    reads,
    substitute,
    transform,
    walk,
)
from workbench.records import record

SHORTEST = 8
"""Iterations that are worth three loops."""

SHORTEST_CHEAP = 64
"""The same where both values may be computed anywhere: lanes choose with one instruction, a loop saves what is read."""

FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@record
class IndexSet:
    """The choice, the conditions that the loop does not change, and the iterations from `begin` on, before `end`."""

    choice: Select
    around: tuple[Expr, ...]
    begin: tuple[Expr, ...]
    end: tuple[Expr, ...]


def divided(nest: Nest) -> Nest:
    """The nest with every vector loop divided where a choice in its only assignment changes."""
    if isinstance(nest, For) and (where := _index_set(nest)) is not None:
        return _apart(nest, where)
    return rebuild(nest, tuple(map(divided, children(nest))))


def _index_set(loop: For) -> IndexSet | None:
    write, count = only(loop.body), iterations(loop)
    plain = loop.kind == "vector" and loop.step == 1 and loop.lanes == 1
    if not plain or not isinstance(write, Write) or write.reduction is not None or write.atomic:
        return None
    choices = (c for value in write.values for node in walk(value) if (c := _choice(node, count)) is not None)
    return next((b for c in choices if (b := _along(c, loop.variable)) is not None), None)


def _choice(node: Expr, count: int | None) -> Select | None:
    """A choice between two values that is worth three loops of so many iterations together."""
    match node:
        case Select() if count is None or count >= SHORTEST:
            return node
        case Call("select", (condition, then, otherwise), dtype) if count is None or count >= SHORTEST_CHEAP:
            return Select(condition, then, otherwise, dtype)
    return None


def _along(choice: Select, variable: str) -> IndexSet | None:
    """The index set of a choice whose conditions are an interval of the variable."""
    around: list[Expr] = []
    limits: dict[str, list[Expr]] = {"begin": [], "end": []}
    for condition in conjuncts(choice.condition):
        match condition:
            case Binary("<" | "<=" | ">" | ">=" as op, a, b, _) if is_index_arithmetic(a) and is_index_arithmetic(b):
                distance = simplify(Binary("-", a, b, INT64))
            case _:
                return None
        if not depends(distance, variable):
            around.append(condition)
        elif (limit := _limit(op, distance, variable)) is not None:
            limits[limit[0]].append(limit[1])
        else:
            return None
    return IndexSet(choice, tuple(around), tuple(limits["begin"]), tuple(limits["end"]))


def _limit(op: str, distance: Expr, variable: str) -> tuple[str, Expr] | None:
    """What `distance op 0` says of the variable: where it begins to hold, or where it ends."""
    step = growth(distance, variable)
    if step not in (1, -1):
        return None
    rest = substitute(distance, {variable: Const(0, INT64)})
    place = Binary("-", Const(0, INT64), rest, INT64) if step == 1 else rest
    op = op if step == 1 else FLIPPED[op]  # variable op place
    later = Const(1 if op in (">", "<=") else 0, INT64)
    return "begin" if op in (">", ">=") else "end", simplify(Binary("+", place, later, INT64))


def _apart(loop: For, where: IndexSet) -> Nest:
    begin = _extreme("min", _extreme("max", loop.lower, *where.begin), loop.upper)
    end = _extreme("max", _extreme("min", loop.upper, *where.end), begin)
    inside = _chosen(loop, where.choice, where.choice.then)
    outside = _chosen(loop, where.choice, where.choice.otherwise)
    parts = ((outside, loop.lower, begin), (inside, begin, end), (outside, end, loop.upper))
    cut = (replace(part, lower=a, upper=b) for part, a, b in parts)
    loops = [x for x in cut if (count := iterations(x)) is None or count > 0]
    nest: Nest = loops[0] if len(loops) == 1 else Block(tuple(loops))
    return If(conjunction(list(where.around)), nest, outside) if where.around else nest


def _extreme(which: str, *values: Expr) -> Expr:
    return values[0] if len(values) == 1 else simplify(Call(which, values, INT64))


def _chosen(loop: For, choice: Select, value: Expr) -> For:
    """The loop with one side of the choice for the choice."""
    write = only(loop.body)
    assert isinstance(write, Write)
    values = tuple(transform(v, lambda node: value if _choice(node, None) == choice else node) for v in write.values)
    return replace(loop, body=replace(write, values=values))


def split_transposed_copies(nest: Nest) -> Nest:
    """The nest with transposed copies, from rows into lanes, divided where their iterations write cells of their own.

        for k: { for n_lane in lanes: P(k, n_lane) = B(n_lane, k); for n_lane: P(k, n_lane) = B(n_lane, k) }
        →   for k: for n_lane in lanes: …;   for k: for n_lane: …

    Then the loop over whole vectors holds nothing else, and four of its iterations read groups of four neighbours
    together.
    """
    nest = rebuild(nest, tuple(map(split_transposed_copies, children(nest))))
    if isinstance(nest, For) and isinstance(nest.body, Block) and _turns(nest, nest.body.body):
        return Block(tuple(replace(nest, body=part) for part in nest.body.body))
    return nest


def _turns(loop: For, parts: tuple[Nest, ...]) -> bool:
    """Whether the parts are one copy whose source runs along the loop, its cells along the loops inside."""
    if loop.kind != "serial" or loop.lanes > 1 or not all(isinstance(x, For) for x in parts):
        return False
    inner = [x for x in parts if isinstance(x, For)]
    writes = [only(x.body) for x in inner]
    first = writes[0]
    if inner[0].lanes == 1 or not isinstance(first, Write) or any(w != first for w in writes):
        return False
    lane = inner[0].variable
    bounds = [e for x in inner for e in (x.lower, x.upper)]
    if any(x.variable != lane for x in inner) or any(depends(e, loop.variable) for e in bounds):
        return False
    return _is_transposed(first, loop.variable, lane)


def _is_transposed(write: Write, along: str, lane: str) -> bool:
    if write.reduction is not None or write.atomic or len(write.cells) != 1:
        return False
    cell, source = write.cells[0], write.values[0]
    source = source.operand if isinstance(source, Cast) and source.operand.dtype.is_half else source
    if not isinstance(source, Read) or source.tensor == cell.array or any(reads(*source.subscripts, *cell.subscripts)):
        return False
    if not source.subscripts or growth(source.subscripts[-1], along) != 1 or depends(source.subscripts[-1], lane):
        return False
    return _tells(cell.subscripts, along, lane) and _tells(cell.subscripts, lane, along)


def _tells(subscripts: tuple[Expr, ...], variable: str, other: str) -> bool:
    """Whether some subscript alone says which iteration of a variable writes the cell."""
    return any(growth(s, variable) == 1 and not depends(s, other) for s in subscripts)
