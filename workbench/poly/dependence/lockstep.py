"""Lanes in lockstep: which pairs of instances in different lanes of a vector loop come in the right order.

Lanes beyond a register come later, so the target's lane must be the later one; in a register each statement ends in all
lanes before the next begins.  Loops inside are counted from where each lane begins: of `for u = 2 * j` in lanes of j
every lane executes its only iteration at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Loop, at_once
from workbench.poly.sets import isl
from workbench.poly.time.timemap import Shared, compare, domain_of, instance, prefix, row_text

Ends = tuple[ProgramStatement, ProgramStatement]


def out_of_lockstep(program: Program, lanes: isl.Map, ends: Ends, common: Shared, depth: int) -> isl.Map | None:
    """Of pairs in different lanes of the loop at a depth, those that lockstep does not order; None if none are."""
    bad = lanes.intersect(compare(program, common.loops[depth], *ends, ">"))
    ahead = lanes.intersect(compare(program, common.loops[depth], *ends, "<"))
    for place, loop in enumerate(common.loops[depth + 1 :], depth + 1):
        if ahead.is_empty():
            break
        start = _start(program, common.loops[: place + 1], depth)
        later = _related(program, loop, ends, "!=" if at_once(loop.kind) else ">", start)
        bad = bad.union(ahead.intersect(later))
        ahead = ahead.intersect(_related(program, loop, ends, "<=" if loop.kind == "vector" else "=", start))
    if common.position >= 0:
        bad = bad.union(ahead)
    return None if bad.is_empty() else bad


def _related(program: Program, loop: Loop, ends: Ends, comparison: str, start: isl.UnionMap | None) -> isl.Map:
    """Pairs whose iterations of a loop compare so, counted from where their lanes begin."""
    if start is None:
        return compare(program, loop, *ends, comparison)
    first, second = (_counted(program, loop, s, start) for s in ends)
    match comparison:
        case ">":
            return first.lex_gt_map(second)
        case "=":
            return first.apply_range(second.reverse())
        case "<=":
            return first.lex_le_map(second)
    return first.lex_lt_map(second).union(first.lex_gt_map(second))


def _counted(program: Program, loop: Loop, statement: ProgramStatement, start: isl.UnionMap) -> isl.Map:
    """Instances of a statement to the number of their iteration of a loop, from where it begins in their lane."""
    value = isl.parse_map(f"{prefix(program)}{{ {instance(statement)} -> [{row_text(loop, statement, program)}] }}")
    begin = start.intersect_domain(isl.UnionSet.from_set(domain_of(program, statement)))
    return value.sum(isl.Map.from_union_map(begin).neg())


def _start(program: Program, loops: Sequence[Loop], lane: int) -> isl.UnionMap | None:
    """Instances to the value with which the last of the loops begins around them; None if all lanes begin alike."""
    return _begun(program, tuple(loops), lane)


@lru_cache(maxsize=1024)
def _begun(program: Program, loops: tuple[Loop, ...], lane: int) -> isl.UnionMap | None:
    *outer, inner = loops
    around, values = isl.parse_union_map("{ }"), isl.parse_union_map("{ }")
    for identifier in dict(inner.rows):
        own = program.statement(identifier)
        rows = ", ".join(row_text(x, own, program) for x in outer)
        domain = isl.UnionSet.from_set(domain_of(program, own))
        place = isl.parse_union_map(f"{prefix(program)}{{ {instance(own)} -> [{rows}] }}").intersect_domain(domain)
        value = f"{prefix(program)}{{ {instance(own)} -> [{row_text(inner, own, program)}] }}"
        around = around.union(place)
        values = values.union(isl.parse_union_map(value).intersect_domain(domain))
    # The first values are those that come after no other: isl's own minimum is empty for some sets that are not.
    begun = around.reverse().apply_range(values)
    first = begun.subtract(begun.apply_range(isl.parse_union_map("{ [u] -> [v] : v > u }")))
    if first.is_empty():
        return None
    alike = isl.Map.from_union_map(first).project_out(isl.dim.in_, lane, 1)
    return None if alike.is_single_valued() else around.apply_range(first)
