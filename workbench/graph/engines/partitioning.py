"""`partition`: a model whose calls are divided among engines, as regions that are functions of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from workbench.errors import EngineError, shown
from workbench.graph.engines.engine_records import Engine, engine_named
from workbench.graph.engines.partitions import Left, Partition, Placed
from workbench.graph.engines.region_calls import Watch
from workbench.graph.engines.regions.blocks import Block, Mask, blocks_of
from workbench.graph.engines.regions.by_cost import (
    Candidate,
    Seconds,
    candidates,
    cheapest_cover,
    merged_neighbours,
    sure_savings,
    without_borders,
)
from workbench.graph.engines.regions.by_rules import Region, by_rules
from workbench.graph.engines.regions.contests import CLOSE, contest
from workbench.graph.engines.regions.measuring import Cost, Measuring
from workbench.graph.engines.regions.outlining import outline, replaced, untold_dimensions
from workbench.graph.engines.regions.taking import Taken, taken
from workbench.graph.models import Model
from workbench.lang.oracle.evaluation import evaluate as oracle
from workbench.records import record
from workbench.runtime.calls.calling import call

HOSTS: dict[str, Callable[..., Any]] = {"kernels": call, "interpreter": oracle}
WAYS = ("cost", "rules")


def partition(
    model: Model, /, engines: Iterable[Engine | str], *, by: str = "cost", sizes: Mapping[str, int] | None = None,
    host: str = "kernels", on_failure: str = "host", check: bool = False, isolate: bool = False,
    timeout_seconds: float = 60.0, keep: bool = True,
) -> Partition:  # fmt: skip
    """Divide the calls of operators of a model among engines; what none takes, or none does faster, the host computes.

    `by="rules"` gives each call to the first engine that takes it and merges neighbours.  `by="cost"` measures
    candidate regions on each engine, for numbers in place of named dimensions (`sizes`), and takes the cheapest
    division.  `host` is who computes the rest when the partition is evaluated: `kernels` of the default recipes, or the
    `interpreter`.  For the other options see `Watch`.  EngineError for an unknown engine or way.
    """
    _check_choice("by", by, WAYS)
    _check_choice("host", host, list(HOSTS))
    _check_choice("on_failure", on_failure, ("host", "raise"))
    if not isinstance(model, Model):
        raise EngineError(f"partition takes a model, not {shown(model)}")
    chosen = tuple(map(engine_named, engines))
    _check_names(chosen)
    graph = model.graph_form()
    watch = Watch(HOSTS[host], on_failure, check, isolate, timeout_seconds, keep)
    measuring = Measuring(graph, dict(sizes or {}), HOSTS[host], host, timeout_seconds)
    divided = [_divided(graph, block, chosen, measuring if by == "cost" else None) for block in blocks_of(graph)]
    return _assembled(graph, chosen, divided, watch, by)


def _check_choice(what: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        raise EngineError(f"{what}={shown(value)}; expected one of {', '.join(known)}")


def _check_names(engines: Sequence[Engine]) -> None:
    names = [each.name for each in engines]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise EngineError(f"two engines are called {twice!r}; give each its own name")


@record(eq=False)
class Divided:
    """A block with its regions; what was measured, if anything; totals of other divisions in seconds."""

    block: Block
    taken: tuple[Taken, ...]
    regions: tuple[Region, ...]
    measured: Mapping[tuple[str, Mask], Candidate]
    totals: Mapping[str, float]


def _divided(model: Model, block: Block, engines: Sequence[Engine], measuring: Measuring | None) -> Divided:
    takes = tuple(taken(block, each) for each in engines)
    if measuring is None:
        regions = [each for each in by_rules(block, takes) if not untold_dimensions(outline(model, block, each.mask))]
        return Divided(block, takes, tuple(regions), {}, {})

    def on(engine: Engine, mask: Mask) -> Cost:
        return measuring.on(engine, block, mask)

    among = candidates(block, takes, on, lambda mask: measuring.by_host(block, mask))
    known = {(each.engine.name if each.engine else "host", each.mask): each for each in among}
    chosen = cheapest_cover(block, among)
    divisions = {"chosen": chosen, **_near(block, takes, among, chosen, on), **_others(block, takes, known)}
    known |= {(each.engine.name, each.mask): each for of in divisions.values() for each in of if each.engine}
    totals = {name: sum(each.seconds for each in of) for name, of in divisions.items()}
    best, reason = _best(measuring, block, divisions, totals)
    regions = [Region(block, each.mask, each.engine, reason) for each in best if each.engine is not None]
    return Divided(block, takes, tuple(regions), known, totals)


def _near(
    block: Block, takes: Sequence[Taken], among: Sequence[Candidate], chosen: Sequence[Candidate], on: Seconds
) -> dict[str, list[Candidate]]:
    """Divisions like the chosen one: with fewer borders, and the cheapest without each engine."""
    hosts = [each for each in among if each.engine is None]
    joined = merged_neighbours(block, chosen, on)
    found = {"neighbours merged": joined, "what surely saves time": sure_savings(joined, hosts)}
    found |= without_borders(block, joined, takes, on)
    for left_out in (each.engine for each in takes if len(takes) > 1):
        rest = [each for each in among if each.engine is not left_out]
        found[f"without {left_out.name}"] = merged_neighbours(block, cheapest_cover(block, rest), on)
    return found


def _best(
    measuring: Measuring, block: Block, divisions: Mapping[str, Sequence[Candidate]], totals: dict[str, float]
) -> tuple[Sequence[Candidate], str]:
    """The division with the cheapest parts, or one that is close and cheaper as a whole; `totals` learns of that."""
    limit = CLOSE * totals["chosen"]
    close = {name: [(e.engine, e.mask) for e in of] for name, of in divisions.items() if totals[name] <= limit}
    distinct = {frozenset((e.name if e else "", mask) for e, mask in of) for of in close.values()}
    if len(distinct) < 2:
        return divisions["chosen"], "the cheapest division that was found"
    totals.update(contest(measuring, block, close))
    best = min(close, key=lambda name: totals[name])
    reason = "its parts cost least" if best == "chosen" else f"{best}, and as a whole it costs less than cheaper parts"
    totals["chosen"] = totals[best]
    return divisions[best], f"the cheapest division that was found: {reason}"


def _others(
    block: Block, takes: Sequence[Taken], known: Mapping[tuple[str, Mask], Candidate]
) -> dict[str, list[Candidate]]:
    """Other divisions: all on the host, by the rules with all engines, and with each alone."""
    hosts = [each for (name, _), each in known.items() if name == "host"]
    ways = {"rules": list(takes), **{f"rules, {each.engine.name} alone": [each] for each in takes}}
    found = {"all on the host": hosts}
    for name, of in ways.items():
        regions = by_rules(block, of)
        measured = [known[key] for each in regions if (key := (each.engine.name, each.mask)) in known]
        if len(measured) == len(regions):
            covered = sum(each.mask for each in regions)
            found[name] = [*measured, *(each for each in hosts if not each.mask & covered)]
    return found


def _assembled(
    model: Model, engines: Sequence[Engine], divided: Sequence[Divided], watch: Watch, by: str
) -> Partition:
    names = {*model.functions, *(op.name for op in model.operators)}
    outlines, placed = {}, {}
    left: list[Left] = []
    for each in divided:
        for region in each.regions:
            name = _fresh(region.engine.name, names)
            outlined = outline(model, each.block, region.mask)
            outlines[name] = (each.block, outlined, region.mask)
            placed[name] = _placed(name, region, each)
        left += _left(each)
    totals: dict[str, float] = {}
    for way in divided[0].totals if divided else ():
        if all(way in each.totals for each in divided):
            totals[way] = sum(each.totals[way] for each in divided)
    changed = replaced(model, outlines) if outlines else model
    return Partition(model, changed, placed, tuple(left), tuple(engines), watch, by, totals)


def _fresh(engine: str, taken_names: set[str]) -> str:
    number = 1
    while f"{engine}_{number}" in taken_names:
        number += 1
    taken_names.add(f"{engine}_{number}")
    return f"{engine}_{number}"


def _placed(name: str, region: Region, divided: Divided) -> Placed:
    block, mask = region.block, region.mask
    calls = tuple(block.sites[node] for node in block.members(mask))
    own = divided.measured.get((region.engine.name, mask))
    others: dict[str, float | str] = {}
    if own is not None:
        others["host"] = sum(
            each.seconds for (who, one), each in divided.measured.items() if who == "host" and one & mask
        )
    for other in divided.taken:
        if other.engine is region.engine:
            continue
        measured = divided.measured.get((other.engine.name, mask))
        refused = [f"{block.sites[n]}: {other.reasons[n]}" for n in block.members(mask) if n in other.reasons]
        if measured is not None:
            others[other.engine.name] = measured.seconds
        elif refused:
            others[other.engine.name] = refused[0]
    return Placed(name, region.engine, calls, region.reason, None if own is None else own.seconds, others)


def _left(divided: Divided) -> list[Left]:
    """The calls that the host computes, with the reason of each engine."""
    block = divided.block
    covered = sum(each.mask for each in divided.regions)
    found = []
    for at, node in enumerate(block.nodes):
        if node in block.refused:
            operator = getattr(getattr(node, "function", None), "operator", None)
            found.append(Left(operator.name if operator else "?", {"every engine": block.refused[node]}))
        elif node in block.sites and not covered >> at & 1:
            reasons = {each.engine.name: each.reasons.get(node, _slower(divided, at)) for each in divided.taken}
            found.append(Left(str(block.sites[node]), reasons))
    return found


def _slower(divided: Divided, at: int) -> str:
    return "costs more there" if divided.measured else "would wait for itself, or a size would be unknown"


