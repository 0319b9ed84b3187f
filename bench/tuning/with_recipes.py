"""python -m bench.tuning.with_recipes: the operators of the suite, tuned with 64 trials on 1 and on 2 threads.

Where `wb.explain` says how far the default stands below its roof, the row says which part of that distance was closed,
and what it says of the best.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import workbench as wb
from bench.contenders import operator_of
from bench.record import Tuned
from bench.suite import CASES as SUITE
from bench.tuning.campaign import Campaign, main
from bench.tuning.studies import in_turn
from workbench.errors import WorkbenchError
from workbench.runtime.host.machine import thread_count
from workbench.runtime.measuring.roofs import measured_ceilings
from workbench.schedules import Schedule
from workbench.tune.study import Study
from workbench.viz.views.performance.explanation_data import roof_type

THREADS = (1, 2)
CASES = {f"{case.name}, {n} thread{'s' * (n > 1)}": (case, n) for n in THREADS for case in SUITE}


def run(case: str, trials: int) -> Tuned:
    """One operator on so many threads."""
    own, threads = CASES[case]
    with wb.settings(threads=threads):
        found = in_turn(case, operator_of(own), own.sizes, trials, also=explained)
    roof, gain = found.facts.get("roof_seconds"), found.gain
    if roof is None or gain is None or found.default is None:
        return replace(found, facts=found.facts | {"share": None})
    share = roof / found.default.seconds
    closed = (share * gain - share) / (1.0 - share) if share < 1.0 else None
    return replace(found, facts=found.facts | {"share": share, "closed": closed})


def explained(study: Study) -> Mapping[str, Any]:
    """What the default would take at its roof (None where there is none), and in words what binds default and best.

    The roofs are measured beside each case: on a machine that others share they are not the same all day.
    """
    try:
        roofs = measured_ceilings(roof_type(study.default.program), thread_count())
        seconds, words = roofed(study.default, roofs)
        _, of_best = roofed(study.best, roofs) if study.best != study.default else (seconds, words)
    except WorkbenchError as error:
        return {"roof_seconds": None, "binds": f"not explained: {error.args[0]}"}
    return {"roof_seconds": seconds, "binds": words, "best_binds": of_best}


def roofed(schedule: Schedule, roofs: wb.Ceilings) -> tuple[float | None, str]:
    """(seconds at the tightest roof, what is said of the schedule)."""
    found = wb.explain(schedule, ablation=False, ceilings=roofs)
    entry = found.data.entry
    seconds = entry.flops / entry.tightest.bound if entry is not None else None
    return seconds, " ".join(line.strip() for line in str(found).split("\n\n")[0].splitlines()[1:])


CAMPAIGN = Campaign("with_recipes", "the suite's operators, 64 trials each", 64, CASES, run)

if __name__ == "__main__":
    sys.exit(main(CAMPAIGN))
