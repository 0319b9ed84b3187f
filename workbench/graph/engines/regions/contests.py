"""Contests: whole divisions of a block, timed in turn, unless the sums of their parts are far apart.

The cheapest of many sums is often one whose parts were lucky when they were measured.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.errors import WorkbenchError
from workbench.graph.engines.engine_records import Engine
from workbench.graph.engines.region_calls import RegionCall, Watch
from workbench.graph.engines.regions.blocks import Block, Mask
from workbench.graph.engines.regions.measuring import Measuring, digest, dispatch_seconds, example_arrays, shape_key
from workbench.graph.engines.regions.outlining import outline
from workbench.runtime.compilers.storage import subdirectory, write_file

CLOSE = 3.0
ROUNDS, CALLS, MOST_SECONDS = 12, 4, 1.0

Parts = Sequence[tuple[Engine | None, Mask]]
"""A division: each set of calls with the engine that computes it, None for the host."""


def contest(measuring: Measuring, block: Block, divisions: Mapping[str, Parts]) -> dict[str, float]:
    """The shortest time of each division as a whole, in seconds; remembered on disk."""
    named = {
        name: [(each.name + each.version if each else "host", shape_key(measuring.region(block, m))) for each, m in of]
        for name, of in sorted(divisions.items())
    }
    file = subdirectory("engine-costs") / f"{digest('contest', measuring.host_name, repr(named))}.json"
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return {name: float(found[name]) for name in divisions}
    except (OSError, ValueError, KeyError):
        pass
    timed = _timed({name: _whole(measuring, block, of) for name, of in divisions.items()})
    best = {name: seconds + len(divisions[name]) * dispatch_seconds() for name, seconds in timed.items()}
    write_file(file, json.dumps(best).encode())
    return best


def _whole(measuring: Measuring, block: Block, parts: Parts) -> Callable[[], None]:
    """Something that computes every part of a division once, on arrays of the right types."""
    made = [_part(measuring, block, engine, mask) for engine, mask in parts]

    def run() -> None:
        for part in made:
            part()

    return run


def _part(measuring: Measuring, block: Block, engine: Engine | None, mask: Mask) -> Callable[[], Any]:
    region = measuring.region(block, mask)
    arrays = example_arrays(region)
    if engine is None:
        return lambda: region.run(arrays, measuring.host)
    function = outline(measuring.model, block, mask).function
    called = RegionCall("region", function, engine, Watch(measuring.host, "raise", keep=False))
    return lambda: called(*arrays)


def _shortest(run: Callable[[], None]) -> float:
    """The shortest of some calls in a row: the first also pays for the threads of whoever ran before."""
    times = []
    for _ in range(CALLS):
        begun = time.perf_counter()
        try:
            run()
        except (WorkbenchError, RuntimeError):  # it worked when it was measured: it loses
            return float("inf")
        times.append(time.perf_counter() - begun)
    return min(times)


def _timed(runs: Mapping[str, Callable[[], None]]) -> dict[str, float]:
    best: dict[str, float] = {}
    start = time.perf_counter()
    for count in range(ROUNDS + 1):
        for name, run in runs.items():
            took = _shortest(run)
            if count:  # the first calls warm up
                best[name] = min(best.get(name, float("inf")), took)
        if count > 2 and time.perf_counter() - start > MOST_SECONDS:
            break
    return best
