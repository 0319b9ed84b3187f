"""A study as plain data for the front end: its state, its decisions, and a row for each trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench import poly
from workbench.errors import ScheduleError, WorkbenchError
from workbench.runtime import roofs
from workbench.schedules.sketches.space import Space
from workbench.target_costs import Costs
from workbench.tune.importance import importance
from workbench.tune.models.working_sets import rates
from workbench.tune.study import Study
from workbench.tune.trials import OUTCOMES, Trial, default_of, fastest

LEVELS = ("L2", "L3", "memory")
"""Where the features say what a candidate has to fetch from."""


def study_payload(study: Study, baselines: Mapping[str, float]) -> dict[str, Any]:
    """What is drawn of a study; docs/panel.md has its schema."""
    trials = study.trials
    space = study.assignment.sketch.space
    best, default = best_of_search(study), default_of(trials)
    speedup = default.seconds / best.seconds if best and default and best.seconds and default.seconds else None
    measured = {} if study.ranked else baselines  # what somebody measured is not drawn beside estimates
    lines = {"default recipe": default.score if default else None, **measured}
    return {
        "name": str(study.key.problem), "state": study.state, "done": study.done, "budget": study.budget,
        "outcomes": list(OUTCOMES), "best": best.number if best is not None else None, "speedup": speedup,
        "decisions": [
            {"name": d.name, "options": [_option(o) for o in d.options], "ordered": d.ordered} for d in space.decisions
        ],
        "trials": [_row(trial, space, study.assignment.target.costs) for trial in trials if trial.source != "default"],
        "importance": [[name, round(value, 4)] for name, value in importance(trials).items()],
        "ranking": [[n, q.tau, q.recall, q.regret] for n, q in study.ranking.items()],
        "baselines": [[name, seconds] for name, seconds in lines.items() if seconds],
        "flops": _flops(study), "ceilings": _ceilings(),
        "why": study.reason, "ranked": study.ranked, "language": language_of(study),
    }  # fmt: skip


def language_of(study: Study) -> str:
    """The language that its candidates are written in."""
    return "C" if study.assignment.target.dialect == "c" else "CUDA"


def best_of_search(study: Study) -> Trial | None:
    """The fastest trial that the search made: the default recipe may be faster still."""
    return fastest(t for t in study.trials if t.source != "default")


def _row(trial: Trial, space: Space, costs: Costs) -> list[Any]:
    """Number, outcome, seconds (of a `ranked` study estimates), predicted seconds, round, whether confirmed, the places
    of its options, bytes, the number of the trial that it is a twin of.
    """
    return [
        trial.number, OUTCOMES.index(trial.outcome), trial.score, trial.predicted, trial.round, int(trial.confirmed),
        _places(trial, space), _bytes(trial, costs), trial.twin_of,
    ]  # fmt: skip


def _places(trial: Trial, space: Space) -> list[int]:
    """Where the options of a trial stand; -1 for what a stored one decided that is no option any more."""
    found = []
    for decision in space.decisions:
        try:
            found.append(decision.place(decision.restored(trial.point.get(decision.name))))
        except ScheduleError:
            found.append(-1)
    return found


def _option(option: Any) -> str:
    return "none" if option is None else str(option)


def _bytes(trial: Trial, costs: Costs) -> list[float] | None:
    """Bytes that the analytic model has it fetch from the second cache, the third, and memory."""
    features = trial.features
    if not features or any(f"from_{level.lower()}" not in features for level in LEVELS):
        return None
    cycles = [2.0 ** features[f"from_{level.lower()}"] for level in LEVELS]
    return [round(c * costs.bytes_per_cycle(rate)) for c, rate in zip(cycles, rates(costs), strict=True)]


def _flops(study: Study) -> int:
    """Operations of a call; 0 where they cannot be counted."""
    try:
        return poly.flops(study.assignment.program)
    except WorkbenchError:
        return 0


def _ceilings() -> dict[str, Any] | None:
    """The machine's ceilings, where they were measured."""
    known = roofs.known_ceilings()
    return None if known is None else {"flops": known.flops_per_second, "bytes": dict(known.bytes_per_second)}
