"""Features of a schedule: the numbers that a cost model learns from.

For each statement: its loops, lanes and registers, and for each access how much it touches and how often that is used
again (the context of AutoTVM, Chen et al. 2018, and Ansor, Zheng et al. 2020), together with the cycles of
`working_sets`.  Statements are added up by the cycles they take, so that operators of any number of them have the
same features; the curve is the work done on each byte, loop by loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log2, prod

from workbench.schedules import Schedule
from workbench.target import Target
from workbench.tune.models.loop_nests import Nest, nests
from workbench.tune.models.working_sets import NestCost, nest_costs

CURVE = 6
"""Points at which the work on each byte is sampled, from the whole nest to its innermost loop."""

Features = Mapping[str, float]


def features_of(schedule: Schedule, target: Target, threads: int | None = None) -> dict[str, float]:
    """The features of a schedule for a machine, each a finite number; `cycles` is the analytic prediction."""
    if target.language.for_gpu:
        from workbench.tune.models.gpu_features import gpu_features  # who tunes for processors does without

        return gpu_features(schedule, target)
    workers = threads or target.cores
    found = nests(schedule)
    costs = nest_costs(found, target, workers)
    cycles = [c.cycles for c in costs]
    total = sum(cycles) or 1.0
    result = {"cycles": _log(total), "statements": float(len(found))}
    parts = [_of_nest(nest, cost, target) for nest, cost in zip(found, costs, strict=True)]
    for name in parts[0] if parts else ():
        result[name] = sum([part[name] * own for part, own in zip(parts, cycles, strict=True)]) / total
    heaviest = max(range(len(found)), key=cycles.__getitem__, default=None)
    if heaviest is not None:
        result |= {f"first_{name}": value for name, value in parts[heaviest].items()}
    result["copied"] = _log(sum(n.instances for n in found if n.statement.part == "moves"))
    result["compute"] = _log(sum(c.compute for c in costs))
    for level, name in enumerate(("l2", "l3", "memory")):
        result[f"from_{name}"] = _log(sum(c.traffic[level] for c in costs))
    result["overhead"] = _log(sum(c.overhead for c in costs))
    return result


def _of_nest(nest: Nest, cost: NestCost, target: Target) -> dict[str, float]:
    loops = nest.loops
    inner = loops[-1] if loops else None
    serial = [x for x in loops if x.kind in ("serial", "parallel")]
    unrolled = prod(x.trip for x in loops if x.kind == "unroll")
    width = target.lanes(8 * max((a.bytes for a in nest.accesses), default=4))
    found = {
        "instances": _log(nest.instances),
        "depth": float(len(loops)),
        "lanes": _log(cost.lanes),
        "vectors": _log(cost.lanes / width),
        "whole_vectors": float(cost.lanes % width == 0),
        "unrolled": _log(unrolled),
        "body": _log(unrolled * max(1, cost.lanes // width)),
        "chains": _log(cost.chains),
        "registers": cost.registers / target.vector_registers,
        "loads": cost.loads,
        "busy": cost.busy,
        "inner_trip": _log(inner.trip if inner else 1),
        "turn_trip": _log(serial[-1].trip if serial else 1),
        "outer_trip": _log(loops[0].trip if loops else 1),
        "parallel_depth": float(next((d for d, x in enumerate(loops) if x.kind == "parallel"), len(loops))),
        "cut": _cut(nest),
    }
    found |= _of_accesses(nest, target)
    found |= _curve(nest, target)
    return found


def _cut(nest: Nest) -> float:
    """How many more instances than needed tiles that are cut at a border would have, as a logarithm."""
    trips: dict[str, int] = {}
    for loop in nest.loops:
        for dim, _ in loop.moves:
            trips[dim] = trips.get(dim, 1) * loop.trip
    return _log(prod(trips.values()))


def _of_accesses(nest: Nest, target: Target) -> dict[str, float]:
    """Strides and working sets of the accesses together."""
    line, loops = target.line_bytes, nest.loops
    vector = next((d for d, x in enumerate(loops) if x.kind == "vector"), len(loops) - 1)
    strides = [a.strides[vector] for a in nest.accesses] if loops else []
    sets = [_log(line * sum(a.lines(loops, d, line) for a in nest.accesses)) for d in range(len(loops))]
    first, second, third = (_log(size) for size in target.cache_bytes)
    return {
        "unit_strides": float(sum(s == 1 for s in strides)),
        "no_strides": float(sum(s == 0 for s in strides)),
        "far_strides": float(sum(s not in (0, 1, None) for s in strides)),
        "gathers": float(sum(None in a.strides for a in nest.accesses)),
        "fits_l1": float(sum(s <= first for s in sets)),
        "fits_l2": float(sum(s <= second for s in sets)),
        "fits_l3": float(sum(s <= third for s in sets)),
        "set": sets[0] if sets else 0.0,
        "inner_set": sets[-2] if len(sets) > 1 else 0.0,
    }


def _curve(nest: Nest, target: Target) -> dict[str, float]:
    """Operations on each byte inside the loops from some depth on."""
    line, loops = target.line_bytes, nest.loops
    points = []
    for n in range(CURVE):
        depth = round(n * max(0, len(loops) - 1) / (CURVE - 1))
        inside = prod(x.trip for x in loops[depth:])
        touched = line * sum(a.lines(loops, depth, line) for a in nest.accesses)
        points.append(_log(inside * max(1, nest.operations) / max(1, touched)))
    return {f"curve_{n}": value for n, value in enumerate(points)}


def _log(value: float) -> float:
    return log2(max(value, 2.0**-20)) if value > 0 else 0.0
