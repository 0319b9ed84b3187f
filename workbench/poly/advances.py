"""How far dependences run along a skewed loop: what makes a band of time and space permutable."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.poly import isl
from workbench.poly.affine import to_isl
from workbench.poly.flow import dependences
from workbench.poly.program import Dependence, Program, ProgramStatement
from workbench.poly.timemap import instance, prefix


@isl.guarded
def shifts(
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
