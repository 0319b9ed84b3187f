"""Regions by cost: of candidate regions with measured costs, the ones that compute every call once at the least cost.

Candidates are runs of segments of an order of the block and the regions that rules find.  On a chain the best choice of
intervals is found by dynamic programming; on any other graph the choice is a set partitioning problem, solved as an
integer program, with a cut for every cycle that a solution turns out to have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from workbench.graph.engines.engine_records import Engine
from workbench.graph.engines.regions.blocks import Block, Mask
from workbench.graph.engines.regions.by_rules import by_rules, first, merged
from workbench.graph.engines.regions.measuring import Cost
from workbench.graph.engines.regions.segments import segments
from workbench.graph.engines.regions.taking import Taken
from workbench.graph.memory.ordering import bits
from workbench.records import record

LONGEST = 64
MOST_CUTS = 50
SOLVER_SECONDS = 20.0
SURE = 0.95
MOST_REGIONS = 6
"""Of a division, up to which it is tried with a border less."""

Seconds = Callable[[Engine, Mask], Cost]


@record(eq=False)
class Candidate:
    """A set of calls, the engine that would compute them (None: the host), and what that was measured to cost."""

    mask: Mask
    engine: Engine | None
    cost: Cost

    @property
    def seconds(self) -> float:
        """The measured time."""
        return self.cost.seconds


def candidates(block: Block, engines: Sequence[Taken], on: Seconds, by_host: Callable[[Mask], Cost]) -> list[Candidate]:
    """Every candidate with its cost: single calls on the host, runs of segments and rules' regions on each engine.

    The lengths of runs are powers of two, so that their number is that of the segments times a logarithm.
    """
    found = [Candidate(mask, None, by_host(mask)) for mask in _singles(block)]
    parts = segments(block, [each.seconds for each in found])
    for each in engines:
        for mask in dict.fromkeys((*_runs(block, each, parts), *_by_rules(block, each, engines))):
            cost = on(each.engine, mask)
            if cost.is_possible:
                found.append(Candidate(mask, each.engine, cost))
    return found


def _singles(block: Block) -> list[Mask]:
    return [1 << at for at, node in enumerate(block.nodes) if node in block.sites]


def _runs(block: Block, of: Taken, parts: Sequence[Mask]) -> list[Mask]:
    """Runs of segments, as far as an engine takes their calls, made of whole atoms; each is convex."""
    found = [mask for mask, _ in of.atoms] if len(parts) == len(block.sites) else []
    for begin in range(len(parts)):
        length, mask = 1, 0
        for count, part in enumerate(parts[begin : begin + LONGEST], 1):
            mask |= part
            if not of.mask & part:
                break
            if count == length:
                length *= 2
                found += [each for each in _taken(of, mask) if of.covers(each) and block.is_convex(each)]
    return found


def _taken(of: Taken, mask: Mask) -> list[Mask]:
    """The calls of a run that an engine takes, as the runs between those that it does not take."""
    found = [0]
    for at in bits(mask):
        if of.mask >> at & 1:
            found[-1] |= 1 << at
        elif found[-1]:
            found.append(0)
    return [each for each in found if each]


def _by_rules(block: Block, of: Taken, engines: Sequence[Taken]) -> list[Mask]:
    alone = by_rules(block, [of])
    return [each.mask for each in (*alone, *by_rules(block, engines)) if each.engine is of.engine]


def cheapest_cover(block: Block, among: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that cover every call once, can be computed one after another, and cost least together."""
    if is_chain(block):
        return on_chain(block, among)
    found = by_program(block, among)
    return on_chain(block, among) if found is None else found


def merged_neighbours(block: Block, among: Sequence[Candidate], on: Seconds) -> list[Candidate]:
    """A division with neighbouring regions of one engine as one: intervals are measured in powers of two only."""
    regions = [(each.engine, each.mask) for each in among if each.engine is not None]
    owner = {at: engine for engine, mask in regions for at in bits(mask)}
    known = {each.mask: each for each in among}
    found = [each for each in among if each.engine is None]
    for mask in merged(block, [mask for _, mask in regions], owner):
        engine = owner[first(mask)]
        one = known.get(mask) or Candidate(mask, engine, on(engine, mask))
        found += [one] if one.cost.is_possible else [each for each in among if each.mask & mask]
    return found


def without_borders(
    block: Block, among: Sequence[Candidate], takes: Sequence[Taken], on: Seconds
) -> dict[str, list[Candidate]]:
    """Divisions like one, each with a border less: a region goes to the engine of a neighbour, and they are one."""
    regions = [each for each in among if each.engine is not None]
    found: dict[str, list[Candidate]] = {}
    for number, gone in enumerate(regions if len(regions) <= MOST_REGIONS else (), 1):
        for of in takes:
            together = _with_neighbours(block, regions, gone, of)
            rest = [each for each in among if not each.mask & together]
            if not together or not block.is_acyclic([*(each.mask for each in rest), together]):
                continue
            one = Candidate(together, of.engine, on(of.engine, together))
            if one.cost.is_possible:
                found[f"region {number} to {of.engine.name}"] = [one, *rest]
    return found


def _with_neighbours(block: Block, regions: Sequence[Candidate], gone: Candidate, of: Taken) -> Mask:
    """A region with those of another engine around it, as one; nothing if there are none, or it cannot be."""
    near = [each.mask for each in regions if each.engine is of.engine and _touch(block, each.mask, gone.mask)]
    together = gone.mask | sum(near)
    possible = near and gone.engine is not of.engine and of.covers(together)
    return together if possible and block.is_convex(together) else 0


def _touch(block: Block, one: Mask, other: Mask) -> bool:
    return any(block.direct[at] & other for at in bits(one)) or any(block.direct[at] & one for at in bits(other))


def sure_savings(among: Sequence[Candidate], hosts: Sequence[Candidate]) -> list[Candidate]:
    """A division without the regions that save so little that it may be an error of measurement."""
    found: list[Candidate] = []
    for each in among:
        own = [host for host in hosts if host.mask & each.mask]
        is_sure = each.engine is None or each.seconds < SURE * sum(host.seconds for host in own)
        found += [each] if is_sure else own
    return found


def is_chain(block: Block) -> bool:
    """Whether each call needs all those before it."""
    places = [at for at, node in enumerate(block.nodes) if node in block.sites]
    return len(places) == len(block.nodes) and all(block.above[b] >> a & 1 for a, b in pairwise(places))


def on_chain(block: Block, among: Sequence[Candidate]) -> list[Candidate]:
    """The cheapest cover by intervals of the block's order: the best way to each place, from the best ways before."""
    places = [at for at, node in enumerate(block.nodes) if node in block.sites]
    rank = {at: number for number, at in enumerate(places)}
    ending: dict[int, list[tuple[int, Candidate]]] = {}
    for each in among:
        own = [rank[at] for at in bits(each.mask)]
        if own[-1] - own[0] + 1 == len(own) and _stands_together(block, each.mask):
            ending.setdefault(own[-1] + 1, []).append((own[0], each))
    best: list[tuple[float, Candidate | None]] = [(0.0, None)]
    for end in range(1, len(places) + 1):
        ways = [(best[start][0] + each.seconds, each) for start, each in ending.get(end, [])]
        best.append(min(ways, key=lambda way: way[0]))
    found: list[Candidate] = []
    end = len(places)
    while end:
        chosen = best[end][1]
        assert chosen is not None
        found.append(chosen)
        end -= len(list(bits(chosen.mask)))
    return found[::-1]


def _stands_together(block: Block, mask: Mask) -> bool:
    """Whether a set is a run of nodes of the block without any between: two such never wait for each other."""
    return bool(mask) and (mask // (mask & -mask) + 1) & (mask // (mask & -mask)) == 0


def by_program(block: Block, among: Sequence[Candidate]) -> list[Candidate] | None:
    """The cheapest cover as an integer program; None if the solver gives up."""
    places = {at: row for row, at in enumerate(at for at, n in enumerate(block.nodes) if n in block.sites)}
    rows = [[places[at] for at in bits(each.mask)] for each in among]
    ends = np.cumsum([0, *map(len, rows)])
    entries = (np.ones(ends[-1]), np.concatenate([np.asarray(r) for r in rows]) if rows else [], ends)
    cover = csr_array(entries, shape=(len(among), len(places))).T
    scale = max((each.seconds for each in among), default=1.0) or 1.0
    constraints = [LinearConstraint(cover, 1.0, 1.0)]
    costs = np.array([each.seconds / scale for each in among])
    for _ in range(MOST_CUTS):
        solved = milp(costs, integrality=np.ones(len(among)), bounds=Bounds(0, 1), constraints=constraints,
                      options={"time_limit": SOLVER_SECONDS})  # fmt: skip
        if solved.x is None:
            return None
        chosen = [at for at, value in enumerate(solved.x) if value > 0.5]
        wrong = block.cycle([among[at].mask for at in chosen])
        if not wrong:
            return sorted((among[at] for at in chosen), key=lambda each: each.mask & -each.mask)
        row = np.zeros(len(among))
        row[[chosen[at] for at in wrong]] = 1.0
        constraints.append(LinearConstraint(row[None, :], -np.inf, len(wrong) - 1))
    return None
