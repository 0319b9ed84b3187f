"""A study as a Matplotlib figure: trials and the best so far, what matters, how good the model is, all decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError, unknown_name
from workbench.runtime.measuring.timing import duration
from workbench.tune.importance import importance
from workbench.tune.trials import OUTCOMES, Trial, default_of
from workbench.viz.draw.palette import COLOURS
from workbench.wording import number_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from workbench.tune.study import Study

MOST_DECISIONS = 10
SIZE = 10.5, 7.6
UNJUDGED = "no GPU measured anything\nthat a prediction could be judged by"
FAILED_COLOURS = {"illegal": "soft", "not built": "s1", "crashed": "bad", "timed out": "s3", "wrong": "s4"}


def study_figure(
    study: Study, /, *charts: str, theme: str = "light", baselines: Mapping[str, float] | None = None
) -> Figure:
    """The charts of a study, all of them or those that are named; `baselines` are lines, name → seconds of a call.

    Names: trials, outcomes, importance, prediction, ranking, decisions.  The figure is no part of pyplot's state.
    """
    wanted = charts or tuple(CHARTS)
    for name in wanted:
        if name not in CHARTS:
            raise WorkbenchError(f"figure: {unknown_name('chart', name, CHARTS)}")
    if theme not in ("light", "dark"):
        raise WorkbenchError(f"figure: {unknown_name('theme', theme, ['light', 'dark'])}")
    ink = {role: pair[theme == "dark"] for role, pair in COLOURS.items()}
    figure = _shown()(figsize=SIZE if len(wanted) > 2 else (SIZE[0], SIZE[1] / 2.2), facecolor=ink["ground"])
    default = default_of(study.trials)
    measured = {} if study.ranked else baselines or {}  # what somebody measured is not drawn beside estimates
    lines = {"default recipe": default and default.score, **measured}
    for axes, name in zip(_places(figure, wanted), wanted, strict=True):
        _dress(axes, ink)
        CHARTS[name](axes, study, ink, {n: s for n, s in lines.items() if s})
    figure.suptitle(_title(study), color=ink["ink"], fontsize=11, x=0.012, ha="left")
    return figure


@cache
def _shown() -> type[Figure]:
    """A Figure that a notebook shows as it is, without pyplot."""
    from matplotlib.figure import Figure

    class StudyFigure(Figure):
        _repr_png_ = png_bytes

    return StudyFigure


def png_bytes(figure: Figure) -> bytes:
    """The figure as a PNG of a cell's size."""
    written = BytesIO()
    figure.savefig(written, format="png", dpi=100)
    return written.getvalue()


def _places(figure: Figure, wanted: Sequence[str]) -> list[Axes]:
    if len(wanted) == len(CHARTS):
        grid = figure.add_gridspec(
            3, 3, height_ratios=(1.3, 1.15, 1.1), left=0.075, right=0.985, top=0.905, bottom=0.055, wspace=0.3,
            hspace=0.5,
        )  # fmt: skip
        spots = [grid[0, :2], grid[0, 2], grid[1, 0], grid[1, 1], grid[1, 2], grid[2, :]]
        return [figure.add_subplot(spot) for spot in spots]
    grid = figure.add_gridspec(1, len(wanted), left=0.085, right=0.985, top=0.83, bottom=0.14, wspace=0.3)
    return [figure.add_subplot(grid[0, n]) for n in range(len(wanted))]


def _dress(axes: Axes, ink: Mapping[str, str]) -> None:
    axes.set_facecolor(ink["ground"])
    axes.tick_params(colors=ink["soft"], labelsize=8)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(ink["grid"])


def _named(axes: Axes, ink: Mapping[str, str], title: str, across: str = "", up: str = "") -> None:
    axes.set_title(title, loc="left", fontsize=9, color=ink["ink"])
    axes.set_xlabel(across, fontsize=8, color=ink["soft"])
    axes.set_ylabel(up, fontsize=8, color=ink["soft"])


def _empty(axes: Axes, ink: Mapping[str, str], text: str) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=ink["soft"], fontsize=8)


def _seconds(axes: Axes, which: str = "y") -> None:
    """A logarithmic axis of times in their units."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = axes.yaxis if which == "y" else axes.xaxis
    (axes.set_yscale if which == "y" else axes.set_xscale)("log")
    low, high = axes.get_ylim() if which == "y" else axes.get_xlim()
    steps = (1.0, 2.0, 5.0) if high < 30 * max(low, 1e-12) else (1.0,)
    axis.set_major_locator(LogLocator(10, subs=steps, numticks=7))
    axis.set_major_formatter(FuncFormatter(lambda value, _: duration(value)))
    axis.set_minor_formatter(NullFormatter())


def _trials(axes: Axes, study: Study, ink: Mapping[str, str], lines: Mapping[str, float]) -> None:
    what = ("estimates", "estimated seconds") if study.ranked else ("trials", "seconds of a call")
    _named(axes, ink, f"{what[0]}, and the best so far", "trial", what[1])
    own = [t for t in study.trials if t.source == "search"]
    measured = [t for t in own if t.score and t.twin_of is None]
    if not measured:
        return _empty(axes, ink, "no estimate yet" if study.ranked else "nothing measured yet")
    axes.plot([t.number for t in measured], [t.score or 0 for t in measured], "o", ms=3.5, color=ink["s0"], alpha=0.7)
    best, numbers, seconds = float("inf"), [], []
    for trial in measured:
        best = min(best, trial.score or best)
        numbers.append(trial.number)
        seconds.append(best)
    twins = [t for t in own if t.score and t.twin_of is not None]  # hollow: they were not measured again
    look = {"ms": 3.5, "mfc": "none", "color": ink["s0"], "alpha": 0.7}
    axes.step([*numbers, own[-1].number], [*seconds, best], where="post", color=ink["s1"], lw=1.6)
    axes.plot([t.number for t in twins], [t.score or 0 for t in twins], "o", **look)
    for n, (name, value) in enumerate(lines.items()):
        axes.axhline(value, color=ink["s2"] if not n else ink["soft"], lw=1.0, ls=("--", ":", "-.")[n % 3])
        axes.annotate(
            name, (1.0, value), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=7.5,
            color=ink["soft"],
        )  # fmt: skip
    _seconds(axes)
    top = axes.get_ylim()[1]
    for outcome, role in FAILED_COLOURS.items():
        failed = [t.number for t in own if t.outcome == outcome and t.twin_of is None]
        axes.plot(failed, [top] * len(failed), "x", ms=5, color=ink[role], clip_on=False)
    return None


def _outcomes(axes: Axes, study: Study, ink: Mapping[str, str], _: Mapping[str, float]) -> None:
    _named(axes, ink, "outcomes", f"trials, without {number_of(study.twins, 'twin')}" if study.twins else "trials")
    counts = study.outcomes
    names = [name for name in reversed(OUTCOMES) if name != "estimated" or study.ranked]
    colours = [ink[FAILED_COLOURS.get(name, "s0")] for name in names]
    _bars(axes, ink, [f"{name}: {counts[name]}" for name in names], [counts[name] for name in names], colours)


def _importance(axes: Axes, study: Study, ink: Mapping[str, str], _: Mapping[str, float]) -> None:
    _named(axes, ink, "which decisions matter", "part of the differences explained")
    found = list(importance(study.trials).items())[:MOST_DECISIONS]
    if not found:
        return _empty(axes, ink, "too few trials")
    names = [f"{name}  {value:.0%}" for name, value in reversed(found)]
    _bars(axes, ink, names, [value for _, value in reversed(found)], [ink["s0"]] * len(found))
    return None


def _bars(
    axes: Axes, ink: Mapping[str, str], names: Sequence[str], values: Sequence[float], colours: Sequence[str]
) -> None:
    """Thin bars, each with its name above it: names are long."""
    axes.barh([n - 0.22 for n in range(len(names))], values, color=colours, height=0.24)
    for n, name in enumerate(names):
        axes.annotate(
            name, (0, n + 0.02), xytext=(2, 0), textcoords="offset points", fontsize=7, color=ink["ink"], va="bottom"
        )
    axes.set_yticks([])
    axes.set_ylim(-0.5, len(names) - 0.2)
    axes.set_xlim(0, max([*values, 1e-9]) * 1.02)


def _prediction(axes: Axes, study: Study, ink: Mapping[str, str], _: Mapping[str, float]) -> None:
    _named(axes, ink, "predicted before it was measured", "measured", "predicted")
    known = [(t.seconds, t.predicted, t.round) for t in study.trials if t.seconds and t.predicted]
    if not known:
        return _empty(axes, ink, UNJUDGED if study.ranked else "no predictions")
    for seconds, predicted, number in known:  # later rounds are darker
        shade = 0.25 + 0.75 * number / max(1, known[-1][2])
        axes.plot(seconds, predicted, "o", ms=3.5, color=ink["s2"], alpha=shade)
    both = [v for s, p, _ in known for v in (s, p)]
    axes.plot([min(both), max(both)], [min(both), max(both)], color=ink["grid"], lw=1)
    _seconds(axes, "x")
    _seconds(axes, "y")
    return None


def _ranking(axes: Axes, study: Study, ink: Mapping[str, str], _: Mapping[str, float]) -> None:
    _named(axes, ink, "how well the model ranks", "round", "Kendall's tau, recall")
    known = list(study.ranking.items())
    if not known:
        return _empty(axes, ink, UNJUDGED if study.ranked else "no round was predicted")
    axes.plot([n for n, _ in known], [q.tau for _, q in known], "o-", ms=3, lw=1.2, color=ink["s0"], label="tau")
    axes.plot([n for n, _ in known], [q.recall for _, q in known], "s:", ms=3, lw=1, color=ink["s1"], label="recall")
    axes.axhline(0, color=ink["grid"], lw=1)
    axes.set_ylim(-1.05, 1.05)
    axes.legend(fontsize=7.5, frameon=False, labelcolor=ink["soft"], loc="lower right")
    return None


def _decisions(axes: Axes, study: Study, ink: Mapping[str, str], _: Mapping[str, float]) -> None:
    """Parallel coordinates: one axis a decision, the most important first; the fastest trials on top."""
    _named(axes, ink, "all trials, decision by decision")
    measured = [t for t in study.trials if t.score and t.source == "search"]
    names = list({**importance(study.trials), **(measured[0].point if measured else {})})[:MOST_DECISIONS]
    if not names or not measured:
        return _empty(axes, ink, "too few trials")
    options = {n: sorted({_key(t.point.get(n)) for t in measured}) for n in names}
    order = sorted(measured, key=lambda t: -(t.score or 0))
    best = order[-1].score or 1.0
    for trial in order:
        near = max(0.0, 1.0 - ((trial.score or best) / best - 1.0))
        heights = [_height(options[n], trial, n) for n in names]
        colour = ink["s1"] if near > 0.9 else ink["s0"]
        axes.plot(range(len(names)), heights, color=colour, alpha=0.06 + 0.8 * near**3, lw=0.8 + 0.8 * near)
    for place, name in enumerate(names):
        axes.axvline(place, color=ink["grid"], lw=0.8, zorder=0)
        for shown in _few(options[name]):
            axes.annotate(
                shown[1], (place, _at(options[name], shown)), fontsize=6.5, color=ink["soft"], xytext=(3, 0),
                textcoords="offset points", va="center",
            )  # fmt: skip
    axes.set_xticks(range(len(names)), names, fontsize=7.5, color=ink["ink"])
    axes.set_yticks([])
    axes.set_ylim(-0.06, 1.06)
    return None


Key = tuple[float, str]


def _key(option: Any) -> Key:
    """An option so that numbers are in order."""
    number = isinstance(option, int | float) and not isinstance(option, bool)
    return (float(option), f"{option:g}") if number else (0.0, str(option)[:22])


def _at(options: Sequence[Key], key: Key) -> float:
    return options.index(key) / max(1, len(options) - 1) if len(options) > 1 else 0.5


def _height(options: Sequence[Key], trial: Trial, name: str) -> float:
    return _at(options, _key(trial.point.get(name)))


def _few(options: Sequence[Key]) -> list[Key]:
    return list(options) if len(options) <= 6 else [options[0], options[len(options) // 2], options[-1]]


def _title(study: Study) -> str:
    said = study.headline or "nothing measured yet"
    more = f", {study.speedup:.2f} times as fast as the default recipe" if study.speedup else ""
    return f"{study.key.problem}: {said}{more}"


CHARTS: dict[str, Callable[[Any, Any, Mapping[str, str], Mapping[str, float]], None]] = {
    "trials": _trials, "outcomes": _outcomes, "importance": _importance, "prediction": _prediction,
    "ranking": _ranking, "decisions": _decisions,
}  # fmt: skip
