"""The pages of campaigns: a table of what each is about, and what of it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from bench.record import Record, Timing, Tuned
from bench.table import NOTHING, aligned_rows, duration, head, ratio


def markdown(record: Record) -> str:
    """The page of a campaign."""
    rows = record.tuned
    table, summary = {"rates": _rates, "against_tvm": _race}.get(record.settings["campaign"], _gains)(rows)
    return "\n".join([head(record), f"## {record.settings['title']}", "", table, "", *summary, ""])


LOW = 0.8
"""A default below this part of its roof has a distance to close."""

Page = tuple[str, list[str]]
"""A table and the lines below it."""


def _gains(rows: Sequence[Tuned]) -> Page:
    columns = ["operator", "threads", "default", "best", "gain", "points", "trials", "seconds", "decided otherwise"]
    cells = [
        [
            r.case, r.threads, _seconds(r.default), _seconds(r.best), ratio(r.gain), f"{r.facts['points']:.3g}",
            r.facts["built_and_timed"], f"{r.facts['wall_seconds']:.1f}", len(r.facts["decided"]),
        ]
        for r in rows
    ]  # fmt: skip
    gains = [r.gain for r in rows if r.gain]
    slower = [f"{r.case} ({r.gain:.2f})" for r in rows if r.gain and r.gain < 0.97]
    return aligned_rows(columns, cells), [
        f"- geometric mean of {len(gains)}: {mean(gains):.2f}",
        f"- slower than the default (under 0.97): {', '.join(slower) or 'none'}",
        *_distances([r for r in rows if r.facts.get("share") is not None]),
    ]


def _distances(roofed: Sequence[Tuned]) -> list[str]:
    """Of defaults far below their roofs: which part of the distance was closed, and what is said to bind."""
    far = [r for r in roofed if r.facts["share"] < LOW]
    if not far:
        return []
    closed = sum(r.facts["closed"] for r in far) / len(far)
    whole = f"{len(far)} of {len(roofed)}; of the distance closed, in the mean: {closed:.0%}"
    return [f"- below {LOW:.0%} of their roof by default: {whole}", "", *map(_distance, far)]


def _distance(row: Tuned) -> str:
    facts = row.facts
    return f"- {row.case}: {facts['share']:.0%} of its roof, {facts['closed']:.0%} of the rest closed. {facts['binds']}"


def _rates(rows: Sequence[Tuned]) -> Page:
    columns = ["kernel", "trials", "trials/s", "seconds", "building and timing", "search", "share of the search"]
    cells = []
    for r in rows:
        wall, search, done = (r.facts[x] for x in ("wall_seconds", "search_seconds", "built_and_timed"))
        rest, share = f"{r.facts['measure_seconds']:.2f}", f"{100 * search / wall:.1f} %"
        cells.append([r.case, done, f"{done / wall:.1f}", f"{wall:.2f}", rest, f"{search:.2f}", share])
    return aligned_rows(columns, cells), ["From the call to the end: processes, compiling, checking, timing, finals."]


def _race(rows: Sequence[Tuned]) -> Page:
    columns = [
        "case", "ours", "theirs", "as recorded", "theirs/ours", "after 20 trials", "reached at trial", "after",
        "their trials", "their search", "part", "import, batches",
    ]  # fmt: skip
    cells, sooner, early = [], 0, 0
    for r in rows:
        f = r.facts
        part = f["reached_seconds"] / f["theirs_seconds"] if f["reached_seconds"] else None
        sooner += part is not None and part <= 1 / 20
        early += f["early_ratio"] >= 1.0
        cells.append([
            r.case, duration(f["ours_last"]), duration(f["theirs_last"]), duration(f["theirs_recorded"]),
            ratio(f["final_ratio"]), ratio(f["early_ratio"]), f["reached_trial"] or NOTHING,
            duration(f["reached_seconds"]) if part else NOTHING, len(f["theirs"]),
            duration(f["theirs_seconds"]), f"1/{1 / part:.0f}" if part else NOTHING,
            f"{f['import_seconds']:.1f} s, {f['batches']}",
        ])  # fmt: skip
    return aligned_rows(columns, cells), [
        f"- their result is reached in at most 20 trials (best of the first 20, timed again): {early} of {len(rows)}",
        f"- in at most 1/20 of their seconds: {sooner} of {len(rows)}",
        "- each of their batches imports TVM anew in the processes that build: that is in their seconds",
    ]


def mean(values: Sequence[float]) -> float:
    """The geometric mean; 1 of nothing.

    >>> mean([1.0, 4.0]), mean([])
    (2.0, 1.0)
    """
    return exp(sum(map(log, values)) / len(values)) if values else 1.0


def _seconds(timing: Timing | None) -> str:
    return duration(timing.seconds) if timing else NOTHING
