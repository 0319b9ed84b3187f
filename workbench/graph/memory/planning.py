"""`plan`: the best arrangement that the planners find, never worse than TVM's tokens in the given order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from math import isqrt

from workbench.errors import WorkbenchError, shown, unknown_name
from workbench.graph.memory.bodies import Body, bodies
from workbench.graph.memory.byte_counts import at_sizes, byte_bounds
from workbench.graph.memory.lifetimes import Lifetimes
from workbench.graph.memory.ordering import searched
from workbench.graph.memory.placing import exact
from workbench.graph.memory.placing.climbing import climbed
from workbench.graph.memory.placing.fitting import Bases, Puzzle, best_fit, placed, puzzle
from workbench.graph.memory.placing.shapes import bodies_at, body_shapes
from workbench.graph.memory.plans import MemoryPlan, Placed
from workbench.graph.memory.steps import Buffer, Share, Sharing, Step
from workbench.graph.memory.symbolic import Stack, SymbolicMemoryPlan
from workbench.graph.memory.tokens import storage_tokens
from workbench.records import record

PLANNERS = ("offsets", "tokens")
SHARINGS: tuple[tuple[Sharing, ...], ...] = (("overwrite", "part"), ("overwrite",), ())
"""What may be shared: bodies of many members are harder to place, so most is not always best; else it saves copies."""
TRIED_A_SECOND = 100_000
"""Steps that the search for an order tries in a second, about: they are counted, so that it ends alike everywhere."""
HOPEFUL = 1.2
"""What is at most so many times larger than the best may be improved to be better."""


@record(eq=False)
class _Try:
    """Bodies of lifetimes, and where they were placed."""

    lifetimes: Lifetimes
    bodies: tuple[Body, ...]
    puzzle: Puzzle
    bases: Bases
    planner: str

    @property
    def lines(self) -> int:
        return self.puzzle.lines(self.bases)


def plan(
    lifetimes: Lifetimes,
    planner: str = "offsets",
    *,
    sharing: bool = True,
    reorder: bool = True,
    alignment: int = 64,
    seconds: float = 0.5,
) -> MemoryPlan | SymbolicMemoryPlan:
    """Where every buffer lies in one arena; for symbolic sizes a plan for all of them.

    "tokens" is TVM's planner, one token behind the other, in the given order and without sharing except views; sizes
    that are open are the greatest.
    "offsets" places bodies by best fit, then climbs, and solves small cases exactly, for about so many `seconds`; with
    `sharing` it takes the permitted shares, with `reorder` it looks for a better order of the steps.  Its arena is
    never larger than that of tokens, or than what best fit makes of the given order without sharing.

    WorkbenchError for an unknown planner, or an alignment that is no power of two.
    """
    _check(planner, alignment)
    if lifetimes.symbolic and planner == "tokens":
        lifetimes = at_most(lifetimes)
    if lifetimes.symbolic:
        return _symbolic(lifetimes, sharing, reorder, alignment, seconds)
    by_tokens = _by_tokens(lifetimes, alignment)
    if planner == "tokens":
        return _finished(by_tokens, alignment)
    orders = _orders(lifetimes, sharing, seconds if reorder else 0)
    tries = [*_tries(lifetimes, sharing, orders, alignment), by_tokens]
    best = min(tries, key=lambda one: one.lines)
    return _finished(min([best, *_refined(tries, best, seconds)], key=lambda one: one.lines), alignment)


def _check(planner: str, alignment: int) -> None:
    if planner not in PLANNERS:
        raise WorkbenchError(f"memory plan: {unknown_name('planner', planner, PLANNERS)}")
    if not isinstance(alignment, int) or alignment < 1 or alignment & (alignment - 1):
        raise WorkbenchError(f"memory plan: alignment={shown(alignment)} does not fit; expected a power of two")


# -- numbers ---------------------------------------------------------------------------------------


def _orders(lifetimes: Lifetimes, sharing: bool, seconds: float) -> list[tuple[int, ...]]:
    """The given order (the numbers of the steps), and those found with and without sharing, if there is time."""
    given = tuple(range(len(lifetimes.steps)))
    most = int(TRIED_A_SECOND * seconds / 4)
    found = [searched(lifetimes, sharing=kind, most=most) for kind in {sharing: None, False: None}] if seconds else []
    return list(dict.fromkeys([given, *found]))


def _tries(lifetimes: Lifetimes, sharing: bool, orders: list[tuple[int, ...]], alignment: int) -> Iterator[_Try]:
    """Best fit for each order and each amount of sharing."""
    for order, kinds in product(orders, SHARINGS if sharing else SHARINGS[-1:]):
        ordered = lifetimes.reordered(order)
        formed = bodies(ordered, kinds, alignment)
        given = _puzzle(ordered, formed, alignment)
        yield _Try(ordered, formed, given, best_fit(given), "best fit")


def _puzzle(lifetimes: Lifetimes, formed: Iterable[Body], alignment: int) -> Puzzle:
    return puzzle(body_shapes(lifetimes, formed, alignment), len(lifetimes.steps))


def _refined(tries: list[_Try], best: _Try, seconds: float) -> Iterator[_Try]:
    """Better bases for whatever could still be better than the best: climbing, then the solver."""
    hopeful = [one for one in tries if one.puzzle.bound < best.lines and one.lines <= HOPEFUL * best.lines]
    for one in hopeful:
        share = seconds / 2 / len(hopeful)
        bases = climbed(one.puzzle, one.bases, share)
        yield replace(one, bases=bases, planner="hill climbing")
        if exact.is_small(one.puzzle):
            found = exact.solved(one.puzzle, bases, share)
            yield replace(one, bases=found, planner="exact")


def _by_tokens(lifetimes: Lifetimes, alignment: int) -> _Try:
    """The tokens one behind the other."""
    found = storage_tokens(lifetimes)
    start, starts = 0, []
    for size in found.sizes:
        starts.append(start)
        start += -(-size // alignment)
    formed = bodies(lifetimes, (), alignment)
    given = _puzzle(lifetimes, formed, alignment)
    holder = [next(name for name, inner in body.members if inner == 0) for body in formed]
    return _Try(lifetimes, formed, given, tuple(starts[found.token_of[name]] for name in holder), "tokens")


def _finished(one: _Try, alignment: int) -> MemoryPlan:
    lives, by_name = one.lifetimes.lives, one.lifetimes.by_name
    members = zip(one.bodies, one.bases, strict=True)
    bases = {name: (base, inner) for body, base in members for name, inner in body.members}
    places = tuple(
        Placed(name, bases[name][0] * alignment + at_sizes(bases[name][1], {}), at_sizes(by_name[name].size, {}), *life)
        for name, life in lives.items()
    )
    needed = one.puzzle.bound * alignment
    return MemoryPlan(one.lifetimes, places, one.lines * alignment, alignment, one.planner, needed)


# -- symbols ---------------------------------------------------------------------------------------


def _symbolic(lifetimes: Lifetimes, sharing: bool, reorder: bool, alignment: int, seconds: float) -> SymbolicMemoryPlan:
    """The plan whose worst arena, compared with what is needed, is the smallest over some sizes."""
    sizes = _samples(lifetimes)
    needed = [max(1, _needed(lifetimes.at(one), alignment)) for one in sizes]
    orders = _orders(lifetimes.at(sizes[0]), sharing, seconds if reorder else 0)
    choices = list(product(orders, SHARINGS if sharing else SHARINGS[-1:]))

    def excess(found: SymbolicMemoryPlan) -> tuple[float, int]:
        arenas = [found.offsets(one)[1] for one in sizes]
        return max(arena / least for arena, least in zip(arenas, needed, strict=True)), found.most_bytes

    plans = [_stacks(lifetimes.reordered(o), k, sizes, alignment, seconds / len(choices)) for o, k in choices]
    return min(plans, key=excess)


def _needed(lifetimes: Lifetimes, alignment: int) -> int:
    """Bytes alive at the worst moment without sharing."""
    return _puzzle(lifetimes, bodies(lifetimes, (), alignment), alignment).bound * alignment


def _samples(lifetimes: Lifetimes) -> list[dict[str, int]]:
    """Sizes that stand for all: the greatest, the least (but not 0) and the middle between them, and mixed ones."""
    ranges = {name: (min(max(low, 1), high), high) for name, (low, high) in lifetimes.bounds}
    most, least = {name: high for name, (_, high) in ranges.items()}, {name: low for name, (low, _) in ranges.items()}
    middle = {name: isqrt(low * high) for name, (low, high) in ranges.items()}
    found = [most, least, middle, *(least | {name: high} for name, (_, high) in ranges.items())]
    return [one for number, one in enumerate(found) if one not in found[:number]]


def _stacks(
    lifetimes: Lifetimes, kinds: tuple[Sharing, ...], sizes: list[dict[str, int]], alignment: int, seconds: float
) -> SymbolicMemoryPlan:
    """For each sample of sizes the bodies from the lowest to the highest of their best places there; each search
    begins where the ones before ended.
    """
    formed = bodies(lifetimes, kinds, alignment)
    orders: dict[tuple[int, ...], None] = {}
    for one in sizes:
        given = _puzzle(lifetimes.at(one), bodies_at(formed, one), alignment)
        fitted = min([best_fit(given), *(placed(given, order) for order in orders)], key=given.lines)
        starts = (fitted, placed(given, _token_order(lifetimes.at(one), formed)))
        bases = min((climbed(given, start, seconds / len(sizes) / 2) for start in starts), key=given.lines)
        orders[tuple(sorted(range(len(formed)), key=lambda number: bases[number]))] = None
    stacks = tuple(Stack(lifetimes, tuple(formed[n] for n in order), alignment) for order in orders)
    return SymbolicMemoryPlan(lifetimes, stacks, alignment).pruned(sizes)


def _token_order(lifetimes: Lifetimes, formed: tuple[Body, ...]) -> list[int]:
    """The numbers of the bodies in the order of their tokens: a good start where there are few different sizes."""
    token_of = storage_tokens(lifetimes).token_of
    return sorted(range(len(formed)), key=lambda number: min(token_of[name] for name, _ in formed[number].members))


def at_most(lifetimes: Lifetimes) -> Lifetimes:
    """The same buffers as large as they can be, without permissions to share."""
    most = [Buffer(b.name, byte_bounds(b.size, lifetimes.ranges)[1], b.place) for b in lifetimes.buffers]
    steps = [
        Step(s.name, s.reads, s.writes, tuple(Share("view", v.output, v.input) for v in s.sharing("view")), s.after)
        for s in lifetimes.steps
    ]
    return Lifetimes(tuple(steps), tuple(most))
