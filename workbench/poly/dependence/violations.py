"""Legality of a time map: which dependences a tree violates, with the smallest instances that prove it.

Two instances are ordered if the first time component in which they differ is that of a serial or unrolled
loop, or a position in a Sequence.  A parallel loop orders nothing: instances it separates race.  The lanes of
a vector loop run in lockstep, as many at a time as a register holds: instances in different lanes are ordered if
the lane of the first comes first and it would come first in one lane, too.  Updates of one reduction may sit in
any lanes (each lane has its own partial result); otherwise two of them may come in any order, but not at once,
unless they are atomic.  A loop bound to blocks or threads is as a parallel one, and a barrier orders what it parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from workbench.errors import ScheduleError, unknown_name
from workbench.lang.expr import Expr, index_names
from workbench.poly.dependence.flow import dependences
from workbench.poly.dependence.lockstep import out_of_lockstep
from workbench.poly.programs.program import Dependence, Program, ProgramStatement
from workbench.poly.programs.tree import Loop, Tree, at_once, leaf_ids
from workbench.poly.sets import isl
from workbench.poly.sets.names import to_isl
from workbench.poly.sets.witness import Witness, witness
from workbench.poly.time.barrier_order import ordered_by_barriers
from workbench.poly.time.concurrency import atomic_statements
from workbench.poly.time.timemap import collisions, compare_text, instance, prefix, row, shared
from workbench.records import record

Reason = Literal["order", "race"]


@record
class Violation:
    """Two instances whose order the program needs and the tree does not give.

    `dependence` is None when two instances of one statement (`statement`) share a time.  `reason` is
    "order" (executed the other way round, or at the same time) or "race" (at once).  `loop` names the loop
    level that decides, None for a Sequence or equal times.  `sizes` are the smallest for which it happens
    (the bound ones are not repeated); `source` and `target` map dims to values, `relation` is isl text of
    all such pairs.
    """

    dependence: Dependence | None
    reason: Reason
    loop: str | None
    sizes: dict[str, int]
    source: dict[str, int]
    target: dict[str, int]
    statement: str
    relation: str


@lru_cache(maxsize=1024)
@isl.guarded
def violations(
    program: Program,
    tree: Tree,
    among: frozenset[str] | None = None,
    parts: tuple[frozenset[str], ...] = (),
) -> tuple[Violation, ...]:
    """What the tree breaks: for each dependence the outermost level at which some pair goes wrong, with a
    witness.

    `among` limits the question to dependences between some statements (by id); those inside one of `parts` are
    taken to hold.

    Exact for exact dependences; a violated may-dependence (`dependence.exact` False) may be harmless for
    some data. Empty means legal.  Raises ScheduleError if a statement is missing, occurs twice, or has no
    row in a loop around it.
    """
    check_complete(program, tree)
    found: list[Violation] = []
    for statement in program.statements:
        if among is not None and statement.id not in among:
            continue
        clash = collisions(program, tree, statement)
        if clash is not None:
            found.append(_violation(program, clash, None, "order", None, statement.id, statement.id))
    for dependence in dependences(program):
        ends = {dependence.source, dependence.target}
        if (among is not None and not ends <= among) or any(ends <= part for part in parts):
            continue
        isl.pace()
        found += _of_dependence(program, tree, dependence)
    return tuple(found)


def check_complete(program: Program, tree: Tree) -> None:
    """ScheduleError unless the tree holds every statement of the program exactly once."""
    known, present = [s.id for s in program.statements], list(leaf_ids(tree))
    for s in present:
        if s not in known:
            raise ScheduleError(unknown_name("statement", s, known))
        if present.count(s) > 1:
            raise ScheduleError(
                f"statement {program.statement(s).name} occurs {present.count(s)} times in the tree"
            )
    missing = [program.statement(s).name for s in known if s not in present]
    if missing:
        raise ScheduleError(f"the tree lacks statement {', '.join(missing)}; every statement must occur once")


@isl.guarded
def violated(program: Program, tree: Tree) -> tuple[str, ...]:
    """Every pair of instances in the wrong order, at whatever level: isl texts of relations."""
    return tuple(isl.text_of(bad) for d in dependences(program) for bad, _, _ in _wrong(program, tree, d))


def _of_dependence(program: Program, tree: Tree, dependence: Dependence) -> list[Violation]:
    """The outermost level at which a dependence is violated, as a list of at most one violation."""
    ends = dependence.source, dependence.target
    first = next(_wrong(program, tree, dependence), None)
    return [] if first is None else [_violation(program, first[0], dependence, first[1], first[2], *ends)]


def _wrong(program: Program, tree: Tree, dependence: Dependence) -> Iterator[tuple[isl.Map, Reason, str | None]]:
    """Level by level from the outside, the pairs that the level gets wrong, with the reason and the loop."""
    s, t = program.statement(dependence.source), program.statement(dependence.target)
    common = shared(tree, s.id, t.id)
    alike: tuple[str, ...] = ()
    for depth, loop in enumerate(common.loops):
        if _is_shared(program, loop, dependence, s, t):
            continue
        wrong, reason = _forbidden(loop, dependence)
        if wrong is not None:
            bad = _alike(dependence.relation, (*alike, compare_text(program, loop, s, t, wrong)))
            if bad is not None and loop.kind == "vector":
                bad = out_of_lockstep(program, bad, (s, t), common, depth)
            if bad is not None and at_once(loop.kind):
                for pairs, why in _unordered_by_barriers(program, tree, dependence, bad, depth):
                    yield pairs, why, loop.name
            elif bad is not None:
                yield bad, reason, loop.name
        alike = (*alike, compare_text(program, loop, s, t, "="))
        if _alike(dependence.relation, alike) is None:
            return
    if common.position >= 0:
        pairs = _alike(dependence.relation, alike)
        assert pairs is not None
        yield pairs, "order", None


def _is_shared(program: Program, loop: Loop, dependence: Dependence, s: ProgramStatement, t: ProgramStatement) -> bool:
    """Whether all pairs of a dependence are seen to stand in one iteration of a loop: both rows are one function of
    dims that are equal in each pair, which is asked once for all orders.
    """
    component = row(loop, s, program)
    if component != row(loop, t, program):
        return False
    pair = f"{instance(s)} -> {instance(t, primed=True)}"
    return _keeps(dependence.relation, component, prefix(program), pair, frozenset(s.dims).intersection(t.dims))


@lru_cache(maxsize=1 << 13)
def _keeps(relation: str, component: Expr, symbols: str, pair: str, common: frozenset[str]) -> bool:
    """Whether all dims of a row are common to both ends of a relation and equal in each pair."""
    apart = {d: f"{symbols}{{ {pair} : {to_isl(d)} != {d}' }}" for d in sorted(index_names(component))}
    return apart.keys() <= common and all(_alike(relation, (text,)) is None for text in apart.values())


def _unordered_by_barriers(
    program: Program, tree: Tree, dependence: Dependence, pairs: isl.Map, depth: int
) -> Iterator[tuple[isl.Map, Reason]]:
    """Of pairs that the loop at a depth separates, those that run at once, and those that barriers order wrongly."""
    source, target, reduction = dependence.source, dependence.target, dependence.kind == "reduction"
    if reduction and atomic_statements(tree).issuperset((source, target)):
        return
    right = ordered_by_barriers(program, tree, source, target, depth)
    wrong = ordered_by_barriers(program, tree, target, source, depth)
    if right is not None:
        pairs = pairs.subtract(right)
    if wrong is not None:
        reversed_ = pairs.intersect(wrong.reverse())
        pairs = pairs.subtract(reversed_)
        if not reduction and not reversed_.is_empty():
            if not pairs.is_empty():
                yield pairs, "race"
            yield reversed_, "order"
            return
    if not pairs.is_empty():
        yield pairs, "race"


@lru_cache(maxsize=8192)
def _alike(relation: str, comparisons: tuple[str, ...]) -> isl.Map | None:
    """The pairs of a relation for which all comparisons hold; None if there are none.

    Remembered, because a step leaves most loops around most statements as they were.
    """
    if not comparisons:
        return isl.parse_map(relation)
    outside = _alike(relation, comparisons[:-1])
    isl.pace()
    pairs = None if outside is None else outside.intersect(isl.parse_map(comparisons[-1]))
    return None if pairs is None or pairs.is_empty() else pairs


def _forbidden(loop: Loop, dependence: Dependence) -> tuple[str | None, Reason]:
    """How the components of source and target must not compare at a loop."""
    reduction = dependence.kind == "reduction"
    if at_once(loop.kind):
        return "!=", "race"
    if loop.kind == "vector":
        return (None if reduction else "!="), "race"
    return (None if reduction else ">"), "order"


def _violation(
    program: Program,
    bad: isl.Map,
    dependence: Dependence | None,
    reason: Reason,
    loop: str | None,
    source: str,
    target: str,
) -> Violation:
    s, t = program.statement(source), program.statement(target)
    proof: Witness = witness(bad, program.symbols, s.dims, t.dims)
    relation = isl.text_of(bad)
    return Violation(dependence, reason, loop, proof.sizes, proof.source, proof.target, source, relation)
