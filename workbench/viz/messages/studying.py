"""What is said of a study: its state, its decisions, and a row for each trial."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from workbench.viz.messages.counting import Ceilings

# `seconds` are estimates where the study is ranked, `places` those of the options, `bytes` from the second cache, the
# third and memory, `twin` the number of the trial whose schedule it gives (0: the default recipe).
TrialRow = Annotated[
    tuple[int, int, float | None, float | None, int, int, list[int], list[float] | None, int | None],
    "number, outcome, seconds, predicted, round, confirmed, places, bytes, twin",
]
Importance = Annotated[tuple[str, float], "name, part"]
Ranking = Annotated[tuple[int, float, float, float], "round, tau, recall, regret"]
Baseline = Annotated[tuple[str, float], "name, seconds"]


class Decision(TypedDict):
    """What a trial decides."""

    name: str
    options: list[str]
    ordered: bool


class StudyData(TypedDict):
    """A study as it is."""

    name: str
    state: Literal["running", "paused", "finished", "stopped", "failed"]
    done: int
    budget: int
    outcomes: list[str]  # the first is that it was measured
    best: int | None
    speedup: float | None
    decisions: list[Decision]
    trials: list[TrialRow]
    importance: list[Importance]
    ranking: list[Ranking]
    baselines: list[Baseline]
    flops: int
    ceilings: Ceilings | None
    why: str  # it failed, or ended early
    ranked: bool  # without a GPU: seconds are estimates of a model
    language: Literal["C", "CUDA"]  # that its candidates are written in


class TrialTold(TypedDict):
    """What is said of the trial that is shown."""

    number: int
    message: str
    shown: bool
    best_code: list[str]
