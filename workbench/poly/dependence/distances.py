"""How far apart dependent instances are along loops: what a skew or a shift has to make up for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.poly.dependence.flow import dependences
from workbench.poly.dependence.violations import Violation
from workbench.poly.programs.affine import to_isl
from workbench.poly.programs.program import Dependence, Program, ProgramStatement
from workbench.poly.programs.tree import Loop, Tree, path
from workbench.poly.sets import isl
from workbench.poly.time.timemap import compare, instance, prefix, row_text
from workbench.records import record


@record
class Backward:
    """A dependence that runs backwards along `loop`.

    `ahead` are the loops outside it along which some of these pairs run forwards, with the most steps that those pairs
    go backwards; first those loops along which all do.
    """

    dependence: Dependence
    loop: Loop
    ahead: tuple[tuple[Loop, int], ...]


@isl.guarded
def backwards(program: Program, tree: Tree, band: Sequence[Loop]) -> Iterator[Backward]:
    """Dependences that no loop outside the band separates and that run backwards along one of its loops, the outermost
    loop first.

    Where there are none the loops of the band may be tiled and interchanged at will.  Reductions may run anywhere.
    """
    found = [b for d in dependences(program) if d.kind != "reduction" for b in _of(program, tree, band, d)]
    return iter(sorted(found, key=lambda b: band.index(b.loop)))


def _of(program: Program, tree: Tree, band: Sequence[Loop], dependence: Dependence) -> Iterator[Backward]:
    s, t = program.statement(dependence.source), program.statement(dependence.target)
    if not all({s.id, t.id} <= dict(loop.rows).keys() for loop in band):
        return
    pairs = isl.parse_map(dependence.relation)
    for outer in path(tree, s.id):
        if outer == band[0]:
            break
        if t.id in dict(outer.rows):
            pairs = pairs.intersect(compare(program, outer, s, t, "="))
    for place, loop in enumerate(band):
        isl.pace()
        bad = pairs.intersect(compare(program, loop, s, t, ">"))
        if not bad.is_empty():
            yield Backward(dependence, loop, _ahead(program, dependence, band[:place], loop, bad))


def _ahead(
    program: Program, dependence: Dependence, outside: Sequence[Loop], loop: Loop, bad: isl.Map
) -> tuple[tuple[Loop, int], ...]:
    s, t = program.statement(dependence.source), program.statement(dependence.target)
    found: list[tuple[bool, Loop, int]] = []
    for other in outside:
        forward = bad.intersect(compare(program, other, s, t, "<"))
        steps = None if forward.is_empty() else _most(program, dependence, loop, forward)
        if steps is not None:
            found.append((not bad.is_subset(forward), other, steps))
    return tuple((other, steps) for _, other, steps in sorted(found, key=lambda entry: entry[0]))


@isl.guarded
def longest_way_back(program: Program, tree: Tree, violation: Violation) -> int | None:
    """How far the pairs of a violation go backwards along the loop that decides; None without bound, or loop."""
    if violation.dependence is None or violation.loop is None or violation.reason != "order":
        return None
    loop = next(x for x in path(tree, violation.dependence.source) if x.name == violation.loop)
    return _most(program, violation.dependence, loop, isl.parse_map(violation.relation))


def _most(program: Program, dependence: Dependence, loop: Loop, bad: isl.Map) -> int | None:
    """The largest distance backwards along a loop; None without bound."""
    s, t = program.statement(dependence.source), program.statement(dependence.target)
    left, right = row_text(loop, s, program), row_text(loop, t, program, primed=True)
    pair = f"[{instance(s)} -> {instance(t, primed=True)}]"
    distance = isl.parse_map(f"{prefix(program)}{{ {pair} -> [({left}) - ({right})] }}")
    most = bad.intersect_params(isl.parse_set(program.context)).wrap().apply(distance).dim_max_val(0)
    return int(str(most)) if most.is_int() else None


# -- How far dependences run along a skewed loop: what makes a band of time and space permutable --

@isl.guarded
def least_delays(
    program: Program, time: Mapping[str, str], space: Mapping[str, str | None], factor: int
) -> dict[str, int] | None:
    """The least delays with which no dependence runs backwards along `space + factor · time + delay`.

    `time` and `space` name a dim of each statement concerned (by id; None in space: it is executed at 0).  Every
    dependence then runs forwards along both, so the two loops may be tiled (Wolf and Lam 1991).  Reductions may run
    anywhere.  None if no delays do, and where there is nothing but reductions.
    """
    delays = dict.fromkeys(time, 0)
    apart = _apart(program, time, space, factor)
    if not apart:
        return None
    for _ in range(len(delays) + 1):
        changed = False
        for (source, target), least in apart.items():
            if delays[source] - least > delays[target]:
                delays[target], changed = delays[source] - least, True
        if not changed:
            first = min(delays.values())
            return {s: d - first for s, d in delays.items()}
    return None


def _apart(
    program: Program, time: Mapping[str, str], space: Mapping[str, str | None], factor: int
) -> dict[tuple[str, str], int] | None:
    """The least that dependences advance along the skewed loop, by pair of statements; None without bound."""
    found: dict[tuple[str, str], int] = {}
    for d in dependences(program):
        if d.kind == "reduction" or not {d.source, d.target} <= time.keys():
            continue
        isl.pace()
        least = _least(program, d, time, space, factor)
        if least is None:
            return None
        pair = d.source, d.target
        found[pair] = min(least, found.get(pair, least))
    return found


def _least(
    program: Program, dependence: Dependence, time: Mapping[str, str], space: Mapping[str, str | None], factor: int
) -> int | None:
    def date(s: ProgramStatement) -> isl.Map:
        place = space[s.id]
        row = f"{'0' if place is None else to_isl(place)} + {factor} * {to_isl(time[s.id])}"
        return isl.parse_map(f"{prefix(program)}{{ {instance(s)} -> [{row}] }}")

    source, target = (program.statement(s) for s in (dependence.source, dependence.target))
    pairs = isl.parse_map(dependence.relation).intersect_params(isl.parse_set(program.context))
    steps = pairs.apply_domain(date(source)).apply_range(date(target)).deltas()
    if steps.is_empty():
        return 0
    least = steps.dim_min_val(0)
    return int(str(least)) if least.is_int() else None
