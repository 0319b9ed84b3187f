"""Two tuners side by side as a picture: the best so far against seconds and against trials, a row of panels for each.

One colour is ours, one is theirs, in every panel; a dotted line is what they end with, a ring where we came to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.record import Tuned
from bench.table import duration

OURS, THEIRS, INK, SOFT = "#0b6e99", "#d1661f", "#22282e", "#8a949e"
COLUMNS = 3


def draw(rows: Sequence[Tuned], file: Path, title: str) -> None:
    """Write the picture; the ending of the file's name says as what."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    style: Any = {
        "font.size": 9, "axes.edgecolor": SOFT, "axes.labelcolor": INK, "text.color": INK, "xtick.color": SOFT,
        "ytick.color": SOFT, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none",
        "svg.hashsalt": "race", "font.family": "DejaVu Sans",
    }  # fmt: skip
    with rc_context(style):
        bands = -(-len(rows) // COLUMNS)
        figure = Figure(figsize=(4.1 * COLUMNS, 4.4 * bands + 0.9), layout="constrained")
        figure.suptitle(title, fontsize=13, fontweight="bold", x=0.01, ha="left")
        grid = figure.subplots(2 * bands, COLUMNS, squeeze=False)
        for n, row in enumerate(rows):
            band, column = divmod(n, COLUMNS)
            _panel(grid[2 * band][column], row, by_time=True)
            _panel(grid[2 * band + 1][column], row, by_time=False)
        for name, colour, x in (("Tensor Workbench", OURS, 0.86), ("MetaSchedule", THEIRS, 0.99)):
            figure.text(x, 0.995, name, color=colour, fontsize=11, fontweight="bold", ha="right", va="top")
        for n in range(len(rows), bands * COLUMNS):
            for below in (0, 1):
                grid[2 * (n // COLUMNS) + below][n % COLUMNS].set_visible(False)
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None, dpi=110)


def _panel(axes: Any, row: Tuned, *, by_time: bool) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    found = row.facts
    ours, theirs = (_steps(found[who], by_time=by_time) for who in ("ours", "theirs"))
    for points, colour in ((theirs, THEIRS), (ours, OURS)):
        axes.step(*zip(*points, strict=True), where="post", color=colour, linewidth=2.0)
        axes.plot(*points[-1], "o", color=colour, markersize=4)
    axes.axhline(found["theirs_last"], color=THEIRS, linewidth=0.9, linestyle=":")
    _ring(axes, found, by_time=by_time)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=range(1, 10) if _narrow(axes) else (1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: duration(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    if by_time:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("seconds of tuning", fontsize=8.5)
        gain = found["final_ratio"]
        said = f"{gain:.2f} times as fast in the end" if gain >= 1 else f"{1 / gain:.2f} times as slow in the end"
        axes.set_title(f"{row.case}\n{said}", fontsize=10, loc="left")
    else:
        axes.set_xlabel("trials", fontsize=8.5)
        axes.set_xlim(0, max(len(found["ours"]), len(found["theirs"])) * 1.03)


def _ring(axes: Any, found: dict[str, Any], *, by_time: bool) -> None:
    """Where our best first was as fast as their last."""
    trial, at = found["reached_trial"], found["reached_seconds"]
    if trial is None:
        return
    x = at if by_time else trial
    best = dict(_steps(found["ours"], by_time=by_time))[x]
    axes.plot([x], [best], "o", markersize=10, markerfacecolor="none", markeredgecolor=OURS, markeredgewidth=1.6)
    said = f"{found['theirs_seconds'] / at:.0f}x sooner" if by_time else f"trial {trial}"
    axes.annotate(said, (x, best), xytext=(9, 9), textcoords="offset points", fontsize=9, color=OURS, weight="bold")


def _narrow(axes: Any) -> bool:
    """Whether the axis spans so little that every digit may have its tick."""
    low, high = axes.get_ylim()
    return high < 4 * low


def _steps(curve: Sequence[Sequence[Any]], *, by_time: bool) -> list[tuple[float, float]]:
    """The best so far where it changed, and at the end."""
    found: list[tuple[float, float]] = []
    best = float("inf")
    for trial, (at, seconds) in enumerate(curve, 1):
        if seconds is not None and seconds < best:
            best = seconds
            found.append((at if by_time else trial, best))
    end = curve[-1][0] if by_time else len(curve)
    return [*found, (end, best)] if found and found[-1][0] != end else found
