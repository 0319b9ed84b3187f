"""Cheap questions about a legal tree: what a menu may offer, what a recipe may do."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from workbench.errors import ScheduleError, UnknownLoop, unknown_name
from workbench.lang.expr import Index
from workbench.poly.dependence.flow import dependences
from workbench.poly.programs.loop_names import LoopName
from workbench.poly.programs.program import Dependence, Program
from workbench.poly.programs.tree import Band, Loop, Tree, loops, path, statements
from workbench.poly.sets import isl
from workbench.poly.sets.names import to_isl
from workbench.poly.time.concurrency import atomic_statements
from workbench.poly.time.timemap import compare, instance, prefix


def can_parallelize(program: Program, tree: Tree, loop_name: str) -> bool:
    """May the iterations of the loop (every loop of that name) run at once?

    No dependence, reductions included, may connect two different iterations under equal outer loops; atomic updates
    may meet.
    `"C.init/m"` means the loop `m` around statement `C.init`.
    """
    return all(
        _carries_nothing(program, tree, loop, reductions=True) for loop in named(program, tree, loop_name)
    )


def can_vectorize(program: Program, tree: Tree, loop_name: str) -> bool:
    """Like `can_parallelize`, but updates of one reduction may sit in different lanes."""
    return all(
        _carries_nothing(program, tree, loop, reductions=False) for loop in named(program, tree, loop_name)
    )


def named(program: Program, tree: Tree, name: str) -> list[Loop]:
    """The loops of that name; UnknownLoop that lists the known ones if there is none."""
    wanted = LoopName(name)
    among: Iterable[Loop] = loops(tree)
    if wanted.statement:
        among = path(tree, statement_id(program, wanted.statement))
    among = list(among)
    found = [loop for loop in among if loop.name == wanted.loop]
    if not found:
        known = list(dict.fromkeys(loop.name for loop in among))
        raise UnknownLoop(unknown_name("loop", wanted.loop, known), name, known)
    return found


def statement_id(program: Program, name: str) -> str:
    """The id of the statement with this user's name, else id; ScheduleError that lists the names."""
    try:
        return (program.named(name) or program.statement(name)).id
    except KeyError:
        raise ScheduleError(unknown_name("statement", name, [s.name for s in program.statements])) from None


@lru_cache(maxsize=4096)
@isl.guarded
def _carries_nothing(program: Program, tree: Tree, loop: Loop, *, reductions: bool) -> bool:
    below, met = dict(loop.rows), atomic_statements(tree)
    for d in dependences(program):
        if d.source not in below or d.target not in below:
            continue
        if d.kind == "reduction" and (not reductions or met.issuperset((d.source, d.target))):
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

    Every dependence that no outer loop separates must go forward or nowhere in every loop of the band;
    reductions may go anywhere.  Races of parallel loops are another question: `violations` of the result
    answers it.
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


# -- The one iteration of a loop that others wait for: where cutting the loop leaves two parts without dependences --

@isl.guarded
def turning_point(program: Program, statement: str, dim: str) -> str | None:
    """A dim outside of `dim` such that each dependence between its iterations begins or ends where both are equal.

    In Floyd and Warshall's shortest paths, row `k` is what step `k` of all others needs: the loops over rows and over
    columns turn at `k`.  None where the dependences have no such point, and where there are none.
    """
    own = program.statement(statement)
    outside = own.dims[: own.dims.index(dim)]
    itself = [d for d in dependences(program) if d.source == d.target == statement]
    carried = [_carried(program, d, outside, dim) for d in itself]
    found = [pairs for pairs in carried if not pairs.is_empty()]
    for other in outside if found else ():
        at = isl.parse_set(f"{prefix(program)}{{ {instance(own)} : {to_isl(dim)} = {to_isl(other)} }}")
        if all(p.domain().is_subset(at) or p.range().is_subset(at) for p in found):
            return other
    return None


def _carried(program: Program, dependence: Dependence, outside: tuple[str, ...], dim: str) -> isl.Map:
    """The pairs with equal dims outside and different ones here."""
    own = program.statement(dependence.source)
    pairs = isl.parse_map(dependence.relation).intersect_params(isl.parse_set(program.context))
    for name, sign in (*((d, "=") for d in outside), (dim, "!=")):
        pairs = pairs.intersect(compare(program, Loop(name, ((own.id, Index(name)),)), own, own, sign))
    return pairs
