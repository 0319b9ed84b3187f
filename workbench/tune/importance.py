"""Which decisions matter: how much of the differences between trials each of them explains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import log
from statistics import fmean

from workbench.tune.trials import Trial

FEWEST = 4
"""Trials below which nothing is said."""


def importance(trials: Sequence[Trial]) -> dict[str, float]:
    """Decision → the part of the variance of log(seconds) between its options, most important first; of estimates
    where nothing was measured.

    Each option's mean counts by its trials, less what chance alone would explain (omega squared), so that decisions of
    many options are not taken for important; decisions that are bound to one another share what they explain.  One of
    which each option was tried once is left out: nothing tells it from chance.
    """
    measured = [t for t in trials if t.score and t.source == "search"]
    if len(measured) < FEWEST:
        return {}
    logs = [log(t.score or 1.0) for t in measured]
    mean = fmean(logs)
    total = sum((x - mean) ** 2 for x in logs)
    found = {name: _explained(name, measured, logs, mean, total) for name in measured[0].point}
    known = [(name, part) for name, part in found.items() if part is not None]
    return dict(sorted(known, key=lambda pair: -pair[1]))


def _explained(name: str, trials: Sequence[Trial], logs: Sequence[float], mean: float, total: float) -> float | None:
    """The part that a decision explains; None where every option stands alone."""
    groups: dict[str, list[float]] = defaultdict(list)
    for trial, value in zip(trials, logs, strict=True):
        groups[str(trial.point.get(name))].append(value)
    left = len(logs) - len(groups)
    if left < 1:
        return None
    if total <= 0 or len(groups) < 2:
        return 0.0
    between = sum(len(g) * (fmean(g) - mean) ** 2 for g in groups.values())
    by_chance = (total - between) / left
    return max(0.0, (between - (len(groups) - 1) * by_chance) / (total + by_chance))
