"""Whether loops that isl generated visit all instances: where strides meet quotients, it sometimes loses a loop.

isl takes a dim of time for single-valued that is not (`t = 6*i + e, k` with `(i + k) % 2 == 0` comes out without a loop
over k).  What the loops visit is put together again from their text, wherever a loop was taken for a single value that
the order itself does not show to be one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Const, Expr, Index, Unary
from workbench.poly.programs.affine import both, guard
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Loop, Tree, path
from workbench.poly.sets import isl
from workbench.poly.sets.names import to_isl
from workbench.poly.time.loops import Block, Code, ForLoop, If, Let, Visit
from workbench.poly.time.timemap import domain_of, instance, prefix, row_text
from workbench.records import record


@record
class Seen:
    """One visit: the loop variables around it, the loops that they are, under what conditions they run."""

    variables: tuple[str, ...] = ()
    conditions: tuple[Expr, ...] = ()
    loops: tuple[str, ...] = ()
    visit: Visit = field(default_factory=lambda: Visit("", ()))


def lost(program: Program, tree: Tree, code: Code) -> list[ProgramStatement]:
    """Statements of which an instance is visited nowhere."""
    seen = list(visits(code, Seen()))
    suspects = [program.statement(i) for i in dict.fromkeys(one.visit.statement for one in seen)]
    suspects = [s for s in suspects if _is_suspect(program, tree, s, seen)]
    return [s for s in suspects if not domain_of(program, s).is_subset(_visited(program, s, seen))]


def _is_suspect(program: Program, tree: Tree, statement: ProgramStatement, seen: list[Seen]) -> bool:
    """Whether isl took a loop for one value that the loops outside do not determine."""
    around = path(tree, statement.id)
    own = [set(one.loops) for one in seen if one.visit.statement == statement.id]
    gone = [place for place, x in enumerate(around) if any(x.name not in loops for loops in own)]
    return any(not _determined(program, around[:place], around[place], statement) for place in gone)


def _determined(program: Program, outer: tuple[Loop, ...], loop: Loop, statement: ProgramStatement) -> bool:
    before, own = (", ".join(row_text(x, statement, program) for x in some) for some in (outer, (loop,)))
    domain = domain_of(program, statement)
    times = [isl.parse_map(f"{prefix(program)}{{ {instance(statement)} -> [{t}] }}") for t in (before, own)]
    outside, inside = (m.intersect_domain(domain) for m in times)
    return outside.reverse().apply_range(inside).is_single_valued()


def visits(code: Code, around: Seen) -> Iterator[Seen]:
    """Every visit with what is around it."""
    match code:
        case Block(body):
            for part in body:
                yield from visits(part, around)
        case ForLoop(variable, loop, lower, upper, step, _, body):
            own = Index(variable, INT64)
            bounds = [Binary(">=", own, lower, BOOL), Binary("<", own, upper, BOOL)]
            if step != 1:
                beyond = Binary("-", own, lower, INT64)
                rest = Binary("%", beyond, Const(step, INT64), INT64)
                bounds.append(Binary("==", rest, Const(0, INT64), BOOL))
            yield from visits(body, replace(_inside(around, variable, *bounds), loops=(*around.loops, loop)))
        case Let(variable, _, value, body):
            yield from visits(body, _inside(around, variable, Binary("==", Index(variable, INT64), value, BOOL)))
        case If(condition, then, otherwise):
            yield from visits(then, _under(around, condition))
            if otherwise is not None:
                yield from visits(otherwise, _under(around, Unary("!", condition, BOOL)))
        case Visit():
            yield replace(around, visit=code)


def _inside(around: Seen, variable: str, *conditions: Expr) -> Seen:
    return replace(around, variables=(*around.variables, variable), conditions=(*around.conditions, *conditions))


def _under(around: Seen, condition: Expr) -> Seen:
    return replace(around, conditions=(*around.conditions, condition))


def _visited(program: Program, statement: ProgramStatement, seen: list[Seen]) -> isl.Set:
    found = isl.parse_set(statement.domain)
    found = found.subtract(found)
    for one in (v for v in seen if v.visit.statement == statement.id):
        dims = [f"wb_visited_{place}" for place in range(len(one.visit.arguments))]
        equal = [Binary("==", Index(d, INT64), a, BOOL) for d, a in zip(dims, one.visit.arguments, strict=True)]
        condition = both(*(guard(c)[0] for c in (*one.conditions, *equal))) or "true"
        variables = ", ".join(map(to_isl, one.variables))
        target = f"{to_isl(statement.id)}[{', '.join(dims)}]"
        found = found.union(isl.parse_map(f"{prefix(program)}{{ [{variables}] -> {target} : {condition} }}").range())
    return found
