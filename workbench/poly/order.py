"""Legality of a time map: which dependences a tree violates, with the smallest instances that prove it.

Two instances are ordered if the first time component in which they differ is that of a serial or unrolled loop, or a
position in a Sequence.  A parallel loop orders nothing: instances it separates race.  A vector loop orders nothing
either, but updates of one reduction may sit in different lanes (each lane has its own partial result).  Two updates of
one reduction may otherwise come in any order, but not at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from workbench.errors import ScheduleError, unknown_name
from workbench.poly import isl
from workbench.poly.flow import dependences
from workbench.poly.program import Dependence, Program
from workbench.poly.timemap import collisions, compare, shared
from workbench.poly.tree import Band, Loop, Tree, loops, path, statements
from workbench.poly.witness import Witness, witness

Reason = Literal["order", "race"]


@dataclass(frozen=True)
class Violation:
    """Two instances whose order the program needs and the tree does not give.

    `dependence` is None when two instances of one statement (`statement`) share a time.  `reason` is "order" (executed
    the other way round, or at the same time) or "race" (at once).  `loop` names the loop level that decides, None for a
    Sequence or equal times.  `sizes` are the smallest for which it happens (the bound ones are not repeated);
    `source` and `target` map dims to values, `relation` is isl text of all such pairs.
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
def violations(program: Program, tree: Tree, among: frozenset[str] | None = None) -> tuple[Violation, ...]:
    """What the tree breaks: for each dependence the outermost level at which some pair goes wrong, with a witness.

    `among` limits the question to dependences between some statements (by id).

    Exact for exact dependences; a violated may-dependence (`dependence.exact` False) may be harmless for some data.
    Empty means legal.  Raises ScheduleError if a statement is missing, occurs twice, or has no row in a loop around it.
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
        if among is not None and not {dependence.source, dependence.target} <= among:
            continue
        found += _of_dependence(program, tree, dependence)
    return tuple(found)


def check_complete(program: Program, tree: Tree) -> None:
    """ScheduleError unless the tree holds every statement of the program exactly once."""
    known, present = [s.id for s in program.statements], statements(tree)
    for s in present:
        if s not in known:
            raise ScheduleError(unknown_name("statement", s, known))
        if present.count(s) > 1:
            raise ScheduleError(f"statement {program.statement(s).name} occurs {present.count(s)} times in the tree")
    missing = [program.statement(s).name for s in known if s not in present]
    if missing:
        raise ScheduleError(f"the tree lacks statement {', '.join(missing)}; every statement must occur once")


def _of_dependence(program: Program, tree: Tree, dependence: Dependence) -> list[Violation]:
    """The outermost level at which a dependence is violated, as a list of at most one violation."""
    s, t = program.statement(dependence.source), program.statement(dependence.target)
    common = shared(tree, s.id, t.id)
    pairs = isl.parse_map(dependence.relation)

    def found(bad: isl.Map, reason: Reason, loop: str | None) -> list[Violation]:
        return [_violation(program, bad, dependence, reason, loop, s.id, t.id)]

    for loop in common.loops:
        wrong, reason = _forbidden(loop, dependence)
        if wrong is not None:
            bad = pairs.intersect(compare(program, loop, s, t, wrong))
            if not bad.is_empty():
                return found(bad, reason, loop.name)
        pairs = pairs.intersect(compare(program, loop, s, t, "="))
        if pairs.is_empty():
            return []
    return found(pairs, "order", None) if common.position >= 0 else []


def _forbidden(loop: Loop, dependence: Dependence) -> tuple[str | None, Reason]:
    """How the components of source and target must not compare at a loop."""
    reduction = dependence.kind == "reduction"
    match loop.kind:
        case "parallel":
            return "!=", "race"
        case "vector":
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


def can_parallelize(program: Program, tree: Tree, loop_name: str) -> bool:
    """May the iterations of the loop (every loop of that name) run at once?

    No dependence, reductions included, may connect two different iterations under equal outer loops.
    `"C.init/m"` means the loop `m` around statement `C.init`.
    """
    return all(_carries_nothing(program, tree, loop, reductions=True) for loop in named(program, tree, loop_name))


def can_vectorize(program: Program, tree: Tree, loop_name: str) -> bool:
    """Like `can_parallelize`, but updates of one reduction may sit in different lanes."""
    return all(_carries_nothing(program, tree, loop, reductions=False) for loop in named(program, tree, loop_name))


def named(program: Program, tree: Tree, name: str) -> list[Loop]:
    """The loops of that name; ScheduleError that lists the known ones if there is none."""
    statement, _, short = name.rpartition("/")
    among: Iterable[Loop] = loops(tree)
    if statement:
        among = path(tree, _statement_id(program, statement))
    among = list(among)
    found = [loop for loop in among if loop.name == short]
    if not found:
        raise ScheduleError(unknown_name("loop", short, dict.fromkeys(loop.name for loop in among)))
    return found


def _statement_id(program: Program, name: str) -> str:
    try:
        return program.statement(name).id
    except KeyError:
        raise ScheduleError(unknown_name("statement", name, [s.name for s in program.statements])) from None


@lru_cache(maxsize=4096)
@isl.guarded
def _carries_nothing(program: Program, tree: Tree, loop: Loop, *, reductions: bool) -> bool:
    below = dict(loop.rows)
    for d in dependences(program):
        if d.source not in below or d.target not in below or (d.kind == "reduction" and not reductions):
            continue
        pairs = _equal_outside(program, tree, d, loop)
        if not pairs.is_empty() and not pairs.intersect(_compare(program, loop, d, "!=")).is_empty():
            return False
    return True


def _equal_outside(program: Program, tree: Tree, dependence: Dependence, loop: Loop) -> isl.Map:
    """Pairs of a dependence that no loop outside the given one separates."""
    pairs = isl.parse_map(dependence.relation)
    for outer in path(tree, dependence.source):
        if outer == loop or pairs.is_empty():
            break
        pairs = pairs.intersect(_compare(program, outer, dependence, "="))
    return pairs


def _compare(program: Program, loop: Loop, d: Dependence, comparison: str) -> isl.Map:
    return compare(program, loop, program.statement(d.source), program.statement(d.target), comparison)


@lru_cache(maxsize=4096)
@isl.guarded
def band_permutable(program: Program, tree: Tree, band: Band) -> bool:
    """May the loops of the band be tiled and interchanged at will (as far as order goes)?

    Every dependence that no outer loop separates must go forward or nowhere in every loop of the band; reductions may
    go anywhere.  Races of parallel loops are another question: `violations` of the result answers it.
    """
    below = set(statements(band))
    for d in dependences(program):
        if d.kind == "reduction" or d.source not in below or d.target not in below:
            continue
        pairs = _equal_outside(program, tree, d, band.loops[0])
        for loop in band.loops:
            if not pairs.is_empty() and not pairs.intersect(_compare(program, loop, d, ">")).is_empty():
                return False
    return True
