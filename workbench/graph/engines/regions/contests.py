"""Contests: whole divisions of a block, run in turn as they will be run, unless the sums of their parts are far apart.

The cheapest of many sums is often one whose parts were lucky when they were measured, and a part measured by itself
finds its arguments where its last call left them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from random import Random
from statistics import median
from typing import Any

from workbench.errors import WorkbenchError
from workbench.graph.engines.engine_records import Engine
from workbench.graph.engines.region_calls import RegionCall, Watch
from workbench.graph.engines.regions.blocks import Block, Mask, blocks_of
from workbench.graph.engines.regions.measuring import Measuring, digest, dispatch_seconds, example_arrays, shape_key
from workbench.graph.engines.regions.outlining import outline, replaced, untold_dimensions
from workbench.graph.evaluation.evaluating import evaluate_on, evaluation_machine
from workbench.graph.models import Model
from workbench.graph.terms.nodes import Function
from workbench.runtime.compilers.storage import subdirectory, write_file

CLOSE = 3.0
ROUNDS, CALLS, MOST_SECONDS = 150, 4, 3.0
FEWEST_ROUNDS = 3

Parts = Sequence[tuple[Engine | None, Mask]]
"""A division: each set of calls with the engine that computes it, None for the host."""


def contest(measuring: Measuring, block: Block, divisions: Mapping[str, Parts]) -> dict[str, float]:
    """The time of each division as a whole, in seconds, the same for those that are the same; remembered on disk."""
    keys = {name: _key(measuring, block, of) for name, of in divisions.items()}
    distinct = {key: name for name, key in keys.items()}
    file = subdirectory("engine-costs") / f"{digest('whole', measuring.host_name, *sorted(distinct))}.json"
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return {name: float(found[key]) for name, key in keys.items()}
    except (OSError, ValueError, KeyError):
        pass
    timed = _timed({key: _whole(measuring, block, divisions[name]) for key, name in distinct.items()})
    write_file(file, json.dumps(timed).encode())
    return {name: timed[key] for name, key in keys.items()}


def _key(measuring: Measuring, block: Block, parts: Parts) -> str:
    """A text of all that the time of a division depends on."""
    return repr([
        (each.name + each.version if each else "host", shape_key(measuring.region(block, mask)))
        for each, mask in sorted(parts, key=lambda part: part[1])
    ])  # fmt: skip


def _whole(measuring: Measuring, block: Block, parts: Parts) -> Callable[[], float]:
    """Something that computes a division once, on arrays of the right types, and gives the seconds that it took."""
    alone = division_alone(measuring, block, parts)
    if alone is None:
        return _one_by_one(measuring, block, parts)
    arrays = example_arrays(measuring.region(block, _every(parts)))
    return lambda: _seconds(lambda: alone(*arrays))


def _every(parts: Parts) -> Mask:
    return sum(mask for _, mask in parts)


def division_alone(measuring: Measuring, block: Block, parts: Parts) -> Callable[..., Any] | None:
    """The calls of a block, divided, as a function of the arrays that they take from around, run as a partition is.

    None where something that is no part stands between them, or tells a size.
    """
    if not block.is_convex(_every(parts)):
        return None
    around = outline(measuring.model, block, _every(parts))
    if untold_dimensions(around):
        return None
    alone = Model({"main": around.function})
    (own,) = blocks_of(alone)
    regions = {f"region {at}": (engine, mask) for at, (engine, mask) in enumerate(parts) if engine is not None}
    masks = {name: own.mask(around.calls[node] for node in block.members(mask)) for name, (_, mask) in regions.items()}
    outlines = {name: (own, outline(alone, own, mask), mask) for name, mask in masks.items()}
    model = replaced(alone, outlines) if outlines else alone
    calls = {name: _region_call(measuring, name, model.functions[name], of) for name, (of, _) in regions.items()}
    machine = evaluation_machine(model, measuring.host, calls)
    return lambda *arrays: evaluate_on(machine, model, arrays, {})


def _region_call(measuring: Measuring, name: str, function: Function, engine: Engine) -> RegionCall:
    watch = Watch(measuring.host, "raise", timeout_seconds=measuring.timeout_seconds, keep=False)
    return RegionCall(name, function, engine, watch)


def _one_by_one(measuring: Measuring, block: Block, parts: Parts) -> Callable[[], float]:
    """The parts of a division one after another, where something that is no part stands between them."""
    made = [_part(measuring, block, engine, mask) for engine, mask in parts]
    dispatch = sum(dispatch_seconds(to="region" if engine else "operator") for engine, _ in parts)

    def run() -> None:
        for part in made:
            part()

    return lambda: _seconds(run) + dispatch


def _part(measuring: Measuring, block: Block, engine: Engine | None, mask: Mask) -> Callable[[], Any]:
    region = measuring.region(block, mask)
    arrays = example_arrays(region)
    if engine is None:
        return lambda: region.run(arrays, measuring.host)
    called = _region_call(measuring, "region", outline(measuring.model, block, mask).function, engine)
    return lambda: called(*arrays)


def _seconds(run: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    try:
        run()
    except (WorkbenchError, RuntimeError):  # it worked when it was measured: it loses
        return float("inf")
    return time.perf_counter() - begun


def _timed(runs: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """The median over rounds of the shortest of some calls in a row: the first also pays for whoever ran before."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    names, order = list(runs), Random(0)
    start = time.perf_counter()
    for count in range(ROUNDS + 1):
        order.shuffle(names)  # nobody always follows the same
        for name in names:
            shortest = min(runs[name]() for _ in range(CALLS))
            if count:  # the first calls warm up
                times[name].append(shortest)
        if count >= FEWEST_ROUNDS and time.perf_counter() - start > MOST_SECONDS:
            break
    return {name: median(of) for name, of in times.items()}
