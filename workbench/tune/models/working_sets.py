"""What a nest takes, from its loops alone: work in registers, and lines moved between caches as working sets fit them.

After PolyDL (Tavarageri et al., PACT 2020), which ranks loop orders by the working sets of reuses and the cache that
each fits into.  Here every access is charged, weighted by how often its lines are fetched, strides and lanes count, and
registers are the first level.  The result is in cycles of one core; only its order is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from math import ceil, prod

from workbench.lang.expr import COMPARISONS, Binary, Call, Expr, Index, Select, walk
from workbench.records import record
from workbench.target import Target
from workbench.target_costs import Costs
from workbench.tune.models.loop_nests import Nest, NestAccess

FULL, HANDED = 0.75, 0.9
"""Of a cache so much holds what is used again and again, and what is used once more."""

LOADS = 2.0
"""Loads that begin in a cycle."""

ENTERED = 2.0
"""Times the cost of a region that one takes here: what cores share moves between them, too."""

CROWDED, CROWDED_RUN, WAYS = 3.0, 512, 8
"""Times a line comes from the second cache that leaves the first one before it is used, as shorter runs of bytes from
more pages than a set has ways meet in a few sets there.
"""

BEGUN, CACHE_LINE = 512, 64
"""Bytes that memory could bring in the time in which a run of bytes begins to arrive."""

REMAINDER = 2.0
"""Divisions that a remainder takes."""


@record(slots=True)
class NestCost:
    """Cycles of one nest: `compute` in registers, `traffic` for each level (first cache to memory), `overhead` of loops
    and parallel regions; how many `lanes`, sums at once (`chains`), registers, loads for each vector operation, and
    the part of `cores` that is kept busy.
    """

    compute: float
    traffic: tuple[float, ...]
    overhead: float
    lanes: int
    chains: float
    registers: float
    loads: float
    busy: float

    @property
    def cycles(self) -> float:
        """The nest's time: the slowest part, and what nothing overlaps."""
        return max(self.compute, *self.traffic) + 0.3 * (self.compute + sum(self.traffic)) + self.overhead


Found = Mapping[str, float]
"""Arrays of which a part is found in a cache."""


def nest_costs(nests: Sequence[Nest], target: Target, threads: int) -> list[NestCost]:
    """What each statement of a program takes: a cache that holds all that is touched has it from the call before, and
    one that holds what an iteration of common loops touches has what the nests before it, in that iteration, touched.
    """
    steady = [in_lockstep(nest) for nest in nests]
    resident = touched_bytes(nests, target)
    return [nest_cost(n, target, threads, resident, _handed_on(steady[: k + 1], target)) for k, n in enumerate(steady)]


def nest_cost(
    nest: Nest, target: Target, threads: int, resident: float | None = None, found: Sequence[Found] = ({}, {}, {})
) -> NestCost:
    """What one statement takes inside its loops; `resident` bytes are what the whole program touches (by default this
    nest), `found` is what nests before it left in each cache.
    """
    nest = in_lockstep(nest)
    inner = _register_depth(nest)
    registers, loads, stores, chains = _registers(nest, inner, target)
    lanes = _lanes(nest)
    width = target.lanes(8 * max((a.bytes for a in nest.accesses), default=4))
    vectors = nest.instances / min(lanes, width)
    costs = target.costs
    latency = costs.cycles(costs.multiply_add_latency_seconds)
    work = max(_arithmetic(nest, costs), loads / LOADS + stores, (latency / chains if chains else 0.0))
    spilled = max(0.0, registers - target.vector_registers) / max(1.0, registers)
    compute = vectors * (work + 2.0 * spilled)
    turns = prod(x.trip for x in nest.loops if x.kind in ("serial", "parallel"))
    busy, regions = _parallel(nest, threads)
    share = 1.0 / busy
    traffic = _traffic(nest, target, touched_bytes((nest,), target) if resident is None else resident, found)
    moved = tuple(
        t / costs.bytes_per_cycle(rate) * (share if level < 2 else max(share, 1.0 / threads, costs.memory_share))
        for level, (t, rate) in enumerate(zip(traffic, rates(costs), strict=True))
    )
    overhead = costs.cycles(turns * costs.loop_turn_seconds * share + ENTERED * regions * costs.region_seconds)
    return NestCost(compute * share, moved, overhead, lanes, chains, registers, loads, busy / threads)


def in_lockstep(nest: Nest) -> Nest:
    """The nest as it is executed: all lanes of a vector loop at each turn of the loops inside it, so it is the
    innermost; loops of one iteration are none.
    """
    kept = [n for n, x in enumerate(nest.loops) if x.trip > 1 or x.kind == "parallel"]
    if (order := sorted(kept, key=lambda n: nest.loops[n].kind == "vector")) == [*range(len(nest.loops))]:
        return nest
    accesses = tuple(replace(a, strides=tuple(a.strides[n] for n in order)) for a in nest.accesses)
    shared = len([*takewhile(lambda n: n < nest.shared, order)])
    return replace(nest, loops=tuple(nest.loops[n] for n in order), accesses=accesses, shared=shared)


def rates(costs: Costs) -> tuple[float, float, float]:
    """Bytes a second that one core moves from the second cache, the third, and memory."""
    return costs.l2_bytes_per_second, costs.l3_bytes_per_second, costs.memory_bytes_per_second


def predicted_cycles(nests: Sequence[Nest], target: Target, threads: int) -> float:
    """Cycles of all nests, one after another."""
    return sum(cost.cycles for cost in nest_costs(nests, target, threads))


def touched_bytes(nests: Sequence[Nest], target: Target) -> float:
    """Bytes of the cache lines that the nests touch, of each array what one nest touches of it at most."""
    most: dict[str, int] = {}
    for nest in nests:
        for access in nest.accesses:
            lines = access.lines(nest.loops, 0, target.line_bytes)
            most[access.array] = max(most.get(access.array, 0), lines)
    return float(target.line_bytes * sum(most.values()))


def _handed_on(nests: Sequence[Nest], target: Target) -> tuple[Found, Found, Found]:
    """The part of each array that the last nest finds in each cache, as one before it touched it in the same iteration
    of the loops that they have in common, and the cache holds all that is touched in between.
    """
    found: tuple[dict[str, float], ...] = ({}, {}, {})
    own, depth = nests[-1], nests[-1].shared
    wanted = _touched(own, depth, target)
    between = [dict(level) for level in wanted]
    for before, after in zip(nests[-2::-1], nests[:0:-1], strict=True):
        depth = min(depth, after.shared)
        for level, lines in enumerate(_touched(before, depth, target)):
            for array, count in lines.items():
                between[level][array] = max(between[level].get(array, 0), count)
            if target.line_bytes * sum(between[level].values()) <= HANDED * target.cache_bytes[level]:
                for array in lines.keys() & wanted[level].keys():
                    part = min(1.0, lines[array] / max(1, wanted[level][array]))
                    found[level][array] = max(found[level].get(array, 0.0), part)
    return found[0], found[1], found[2]


def _touched(nest: Nest, depth: int, target: Target) -> list[dict[str, int]]:
    """Lines of each array that the loops from `depth` on touch, as each cache counts them."""
    line, crowded, plain = target.line_bytes, dict[str, int](), dict[str, int]()
    for a in nest.accesses:
        crowded[a.array] = max(crowded.get(a.array, 0), a.crowded_lines(nest.loops, depth, line))
        plain[a.array] = max(plain.get(a.array, 0), a.lines(nest.loops, depth, line))
    return [crowded, plain, plain]


def _register_depth(nest: Nest) -> int:
    """The first loop from which on everything is unrolled or in lanes: one tile in registers."""
    depth = len(nest.loops)
    while depth and nest.loops[depth - 1].kind in ("unroll", "vector"):
        depth -= 1
    return depth


def _lanes(nest: Nest) -> int:
    return max(1, prod(x.trip for x in nest.loops if x.kind == "vector"))


def _registers(nest: Nest, inner: int, target: Target) -> tuple[float, float, float, float]:
    """(registers, loads and stores for each vector operation, independent chains of sums) of a tile."""
    tile = nest.loops[inner:]
    bits = 8 * max((a.bytes for a in nest.accesses), default=4)
    width = target.lanes(bits)
    lanes, gathered = _lanes(nest), LOADS * target.costs.cycles(target.costs.gathered_element_seconds)
    pieces = max(1, lanes // width)  # registers of a vector loop
    bodies = max(1, prod(x.trip for x in tile if x.kind == "unroll"))
    operations = bodies * pieces
    around = nest.loops[inner - 1] if inner else None
    piecewise = pieces > 1 and nest.statement.reduction is None  # a loop over registers: none holds its value
    registers = loads = stores = chains = 0.0
    for access in nest.accesses:
        strides = access.strides[inner:]
        distinct = prod(x.trip for x, s in zip(tile, strides, strict=True) if s != 0 and x.kind == "unroll")
        vector = next((s for x, s in zip(tile, strides, strict=True) if x.kind == "vector"), 0)
        own = distinct * (pieces if vector != 0 else 1)
        cost = own * (1.0 if vector in (0, 1) else width * gathered)
        stays = around is not None and access.strides[inner - 1] == 0 and not (piecewise and vector)
        reduces = access.written and nest.statement.reduction is not None
        if access.written:
            chains = float(own) if reduces and stays else 0.0
            stores += cost / _kept(nest, access, inner) if stays and reduces else cost
            loads += 0.0 if stays or not reduces else cost
            registers += own if reduces else min(own, 2)
        else:
            loads += 0.0 if stays else cost
            registers += own if stays else min(own, pieces + 1 if bodies > 1 else 1)
    short = width / lanes if 1 < lanes < width else 1.0
    return registers, short * loads / operations, short * stores / operations, chains


def _kept(nest: Nest, access: NestAccess, inner: int) -> int:
    """Turns of the loops around a tile for which a value stays in its register."""
    depth = inner
    while depth and access.strides[depth - 1] == 0:
        depth -= 1
    return prod(x.trip for x in nest.loops[depth:inner])


def _arithmetic(nest: Nest, costs: Costs) -> float:
    """Cycles of the operations for each vector of instances, where none waits for another."""
    fused = nest.statement.reduction is not None and nest.operations >= 2
    plain = costs.cycles(costs.multiply_add_seconds)
    total = plain * (nest.operations - fused)
    division, exponential = costs.cycles(costs.division_seconds), costs.cycles(costs.exponential_seconds)
    weights = {"/": division, "%": REMAINDER * division}
    laned = {dim for x in nest.loops if x.kind == "vector" for dim, _ in x.moves}
    for value in nest.statement.values:
        for node in walk(value):
            match node:
                case Select(condition) | Call("select", (condition, _, _)):
                    total += plain * _masking(condition, laned)
                case Binary(op, _, _, dtype) if op in weights and not dtype.is_integral:
                    total += weights[op]
                case Call(function, _, _) if function not in ("min", "max", "fma", "abs", "fabs"):
                    total += exponential
    return total


def _masking(condition: Expr, laned: set[str]) -> int:
    """Operations on vectors that choose: comparisons, and the choice; none where all lanes choose alike."""
    nodes = list(walk(condition))
    if not any(isinstance(x, Index) and x.name in laned for x in nodes):
        return 0
    return 1 + sum(isinstance(x, Binary) and x.op in COMPARISONS for x in nodes)


def _traffic(nest: Nest, target: Target, resident: float, there: Sequence[Found]) -> tuple[float, float, float]:
    """Bytes that come from the second cache, the third, and memory: what each cache cannot hold; nothing where it holds
    all that is `resident`, and less where something is `there`.
    """
    line, loops = target.line_bytes, nest.loops
    depths = range(len(loops) + 1)
    lines = [[a.lines(loops, depth, line) for a in nest.accesses] for depth in depths]
    sums = [line * sum(own) for own in lines]
    first = [line * sum(a.crowded_lines(loops, depth, line) for a in nest.accesses) for depth in depths]
    found = []
    for size, held in zip(target.cache_bytes, (first, sums, sums), strict=True):
        if resident <= FULL * size:
            found.append(0.0)
            continue
        fits = next((d for d in depths if held[d] <= FULL * size), len(loops))
        own = there[len(found)]
        weights = [_weight(nest, a, len(found)) * (1.0 - own.get(a.array, 0.0)) for a in nest.accesses]
        fetched = (_fetched(a, loops, fits, lines, n, line) for n, a in enumerate(nest.accesses))
        found.append(sum(w * f for w, f in zip(weights, fetched, strict=True)))
    return found[0], found[1], found[2]


def _weight(nest: Nest, access: NestAccess, level: int) -> float:
    """How many times its bytes an access costs on the way from the second cache (level 0), the third, and memory."""
    run, jumps = access.run(nest.loops)
    if level == 0:
        return CROWDED if run < CROWDED_RUN and jumps > WAYS else 1.0
    if level == 1:
        return 1.0
    written = access.written and not nest.past_caches  # its lines are read before, and written back
    return (2.0 if written else 1.0) * (1.0 + BEGUN / max(run, CACHE_LINE))


def _fetched(
    access: NestAccess, loops: Sequence[object], fits: int, lines: list[list[int]], place: int, line: int
) -> float:
    """Bytes of one access: its lines inside the loops that fit, as often as these are begun.

    A loop just around them that does not move the access finds its lines still there.
    """
    depth = fits
    while depth and access.strides[depth - 1] == 0:
        depth -= 1
    begun = prod(x.trip for x in loops[:depth])  # type: ignore[attr-defined]
    return float(line * lines[fits][place]) * begun


def _parallel(nest: Nest, threads: int) -> tuple[float, float]:
    """(threads kept busy, regions begun)."""
    for depth, loop in enumerate(nest.loops):
        if loop.kind == "parallel":
            begun = prod(x.trip for x in nest.loops[:depth])
            return loop.trip / ceil(loop.trip / threads), float(begun)
    return 1.0, 0.0
