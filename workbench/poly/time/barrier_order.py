"""What barriers order, and whether every thread reaches them: relations between instances.

An instance comes before a barrier if the first time component in which they differ, loops whose iterations wait there
left out, is a serial loop's or a position.  Two instances of different threads are in order if some barrier comes
after the one and before the other.
"""

from __future__ import annotations

from functools import lru_cache, reduce

from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Tree
from workbench.poly.sets import isl
from workbench.poly.sets.witness import witness
from workbench.poly.time.concurrency import Barrier, barriers
from workbench.poly.time.timemap import instance, prefix, row_text, shared


def parted(program: Program, tree: Tree, source: str, target: str, depth: int) -> isl.Map | None:
    """Pairs of instances that some barrier parts, the source first, where the loop at `depth` around both waits there;
    None where no barrier does.
    """
    found = []
    for number, barrier in enumerate(barriers(tree)):
        if depth not in barrier.waiting or barrier.behind[0] not in _below(tree, source, depth):
            continue
        before = _side(program, tree, number, source, "<")
        found.append(before.apply_range(_side(program, tree, number, target, ">").reverse()))
    return reduce(isl.Map.union, found) if found else None


@lru_cache(maxsize=4096)
def _below(tree: Tree, statement: str, depth: int) -> frozenset[str]:
    """The statements behind barriers that share the loop at `depth` with a statement."""
    behind = {b.behind[0] for b in barriers(tree)}
    return frozenset(s for s in behind if len(shared(tree, statement, s).loops) > depth)


@lru_cache(maxsize=4096)
def _side(program: Program, tree: Tree, number: int, statement: str, sign: str) -> isl.Map:
    """From a statement's instances to the barrier's that come after ("<") or before (">") them."""
    barrier = barriers(tree)[number]
    own = program.statement(statement)
    depth, position = len(barrier.loops), 1
    if statement not in barrier.behind:
        common = shared(tree, statement, barrier.behind[0])
        depth, position = len(common.loops), common.position
    counted = [d for d in range(len(barrier.loops)) if d not in barrier.waiting]
    rows = {d: f"({row_text(barrier.loops[d], own, program)})" for d in counted if d < depth}
    cases = []
    equal: list[str] = []
    for d, row in rows.items():
        cases.append(" and ".join([*equal, f"{row} {sign} b{d}'"]))
        equal.append(f"{row} = b{d}'")
    if (position < 0) == (sign == "<"):
        cases.append(" and ".join(equal) or "true")
    names = ", ".join(f"b{d}'" for d in counted)
    condition = " or ".join(f"({case})" for case in cases) or "false"
    relation = isl.parse_map(f"{prefix(program)}{{ {instance(own)} -> [{names}] : {condition} }}")
    return relation.intersect_range(_instances(program, barrier))


def _instances(program: Program, barrier: Barrier) -> isl.Set:
    """The barrier's instances: values of the loops around it that do not wait there."""
    kept = [d for d in range(len(barrier.loops)) if d not in barrier.waiting]
    return _iterations(program, barrier).apply(_copy(program, len(barrier.loops), kept))


@lru_cache(maxsize=256)
def _iterations(program: Program, barrier: Barrier) -> isl.Set:
    """The iterations of all loops around the barrier in which anything happens."""
    return reduce(isl.Set.union, [_values(program, barrier, program.statement(s)) for s in barrier.within])


def _values(program: Program, barrier: Barrier, own: ProgramStatement) -> isl.Set:
    rows = ", ".join(f"({row_text(loop, own, program)})" for loop in barrier.loops)
    domain = isl.parse_set(own.domain).intersect_params(isl.parse_set(program.context))
    return domain.apply(isl.parse_map(f"{prefix(program)}{{ {instance(own)} -> [{rows}] }}"))


def _copy(program: Program, count: int, kept: list[int]) -> isl.Map:
    """From points to those of their coordinates."""
    names = ", ".join(f"x{d}'" for d in range(count))
    kept_names = ", ".join(f"x{d}'" for d in kept)
    return isl.parse_map(f"{prefix(program)}{{ [{names}] -> [{kept_names}] }}")


def _agreeing(program: Program, count: int, alike: list[int]) -> isl.Map:
    """Pairs of points that agree in some coordinates."""
    x, y = (", ".join(f"{letter}{d}'" for d in range(count)) for letter in "xy")
    condition = " and ".join(f"x{d}' = y{d}'" for d in alike) or "true"
    return isl.parse_map(f"{prefix(program)}{{ [{x}] -> [{y}] : {condition} }}")


@isl.guarded
def divergent(program: Program, tree: Tree) -> str:
    """A barrier that some threads reach and others do not, with the smallest witness; empty if there is none."""
    return next(filter(None, (_divergent(program, b) for b in barriers(tree))), "")


def _divergent(program: Program, barrier: Barrier) -> str:
    if not barrier.waiting:
        return ""
    depths = range(len(barrier.loops))
    repeated = [d for d in depths if d > barrier.waiting[0] and d not in barrier.waiting]
    if not repeated:
        return ""
    reached = _iterations(program, barrier)
    threads = reached.apply(_agreeing(program, len(depths), [d for d in depths if d not in repeated]))
    phases = _agreeing(program, len(depths), [d for d in depths if d not in barrier.waiting])
    missing = threads.intersect(reached.apply(phases)).subtract(reached)
    pairs = phases.intersect_domain(reached).intersect_range(missing)
    if pairs.is_empty():
        return ""
    names = tuple(f"{loop.name}" for loop in barrier.loops)
    proof = witness(pairs, program.symbols, names, names)

    def said(values: dict[str, int], which: list[int] | tuple[int, ...]) -> str:
        return ", ".join(f"{names[d]}={values[names[d]]}" for d in which)

    sizes = ", ".join(f"{k}={v}" for k, v in proof.sizes.items())
    there, absent = (said(v, barrier.waiting) for v in (proof.source, proof.target))
    name = program.statement(barrier.behind[0]).name
    shown = f" for {sizes}" if sizes else ""
    return (
        f"divergent barrier before {name}: thread {there} reaches it at {said(proof.source, repeated)}, "
        f"thread {absent} does not{shown}; loops between threads and a barrier need the same bounds for all of them"
    )
