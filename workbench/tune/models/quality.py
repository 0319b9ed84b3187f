"""How good a ranking is: Kendall's tau, recall of the best, regret."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from workbench.records import record


@record(slots=True)
class RankQuality:
    """Of predictions beside what was measured: `tau` (Kendall's tau-b, 1 for the same order), `recall` (the part of the
    best tenth, at least one, among as many predicted best), and `regret` (how much slower the one predicted best is
    than the best, in parts of it); `count` trials.
    """

    tau: float
    recall: float
    regret: float
    count: int

    def __str__(self) -> str:
        return f"tau {self.tau:.2f}, recall {self.recall:.0%}, regret {self.regret:.1%} of {self.count} trials"


def rank_quality(predicted: Sequence[float], measured: Sequence[float]) -> RankQuality | None:
    """The quality of predicted times; None with fewer than two.  Any increasing function of the times will do."""
    pairs = [(float(p), float(m)) for p, m in zip(predicted, measured, strict=True) if isfinite(p) and isfinite(m)]
    if len(pairs) < 2:
        return None
    best = max(1, round(len(pairs) / 10))
    by_prediction = sorted(range(len(pairs)), key=lambda n: pairs[n][0])
    by_time = sorted(range(len(pairs)), key=lambda n: pairs[n][1])
    recall = len({*by_prediction[:best]} & {*by_time[:best]}) / best
    fastest = pairs[by_time[0]][1]
    regret = pairs[by_prediction[0]][1] / fastest - 1 if fastest > 0 else 0.0
    return RankQuality(kendall_tau(pairs), recall, regret, len(pairs))


def kendall_tau(pairs: Sequence[tuple[float, float]]) -> float:
    """
    >>> kendall_tau([(1, 10), (2, 20), (3, 30)]), kendall_tau([(1, 3), (2, 2), (3, 1)])
    (1.0, -1.0)
    """
    agree = differ = tied_first = tied_second = 0
    for n, (a, b) in enumerate(pairs):
        for c, d in pairs[:n]:
            first, second = (a > c) - (a < c), (b > d) - (b < d)
            agree += first * second > 0
            differ += first * second < 0
            tied_first += first == 0 and second != 0
            tied_second += second == 0 and first != 0
    found = ((agree + differ + tied_first) * (agree + differ + tied_second)) ** 0.5
    return (agree - differ) / found if found else 0.0
