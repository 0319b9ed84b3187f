"""What is said of a study: its state, its best trial, and whether anything was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.runtime.measuring.timing import duration
from workbench.tune.trials import Trial, default_of

if TYPE_CHECKING:
    from workbench.tune.study import Study

RANKED = "ranked without a GPU: nothing was measured; the model's seconds compare these trials, and promise nothing"


def headline(best: Trial | None) -> str:
    """The best so far, in a few words; empty before there is one."""
    if best is not None and best.estimate:
        return f"best estimate {duration(best.estimate)}, not measured"
    return f"best {duration(best.seconds)}" if best is not None and best.seconds else ""


def study_text(study: Study) -> str:
    """A study in a few lines."""
    best = study.best_trial
    counts = ", ".join(f"{count} {outcome}" for outcome, count in study.outcomes.items() if count)
    made = len(study.trials) - study.twins
    lines = [f"study of {study.key.problem}: {study.state}, {made} trials ({counts or 'none yet'})"]
    lines += [f"{study.twins} more points gave schedules that had been tried"] if study.twins else []
    early = study.state == "finished" and study.reason
    lines += [f"ended before it had {study.budget} trials: {study.reason}"] if early else []
    lines += [RANKED] if study.ranked else []
    if best is None or not best.score:
        return "\n".join([*lines, "best: the default recipe, not measured yet"])
    lines.append(_measured(study, best) if best.seconds is not None else _estimated(study, best))
    return "\n".join([*lines, *(f"  {name}={value}" for name, value in best.point.items())])


def _measured(study: Study, best: Trial) -> str:
    more = f", {study.speedup:.2f} times as fast as the default" if study.speedup else ""
    return f"best: trial {best.number}, {duration(best.seconds or 0.0)}{more}"


def _estimated(study: Study, best: Trial) -> str:
    """The best estimate beside that of the default recipe."""
    default = default_of(study.trials)
    usual = default.estimate if default is not None else None
    which = "the default recipe" if best.source == "default" else f"trial {best.number}"
    more = f" ({duration(usual)} for the default recipe)" if usual and best.source != "default" else ""
    checked = "executed by the processor, it is right" if best.confirmed else "its results were not compared"
    return f"best estimate: {which}, the model expects {duration(best.estimate or 0.0)}{more}; {checked}"
