"""A record as tables for people: ratios first, then the times behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bench.record import Comparison, Latency, Record, Result, Timing

NOTHING = "–"
SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def markdown(record: Record) -> str:
    """The whole record."""
    parts = [head(record)]
    for threads in dict.fromkeys(row.threads for row in record.comparisons):
        rows = [row for row in record.comparisons if row.threads == threads]
        for names in dict.fromkeys(tuple(row.results) for row in rows):
            parts.append(_comparison([row for row in rows if tuple(row.results) == names], threads, names))
    if record.latencies:
        parts.append(_latencies(record.latencies))
    return "\n".join(parts)


def duration(seconds: float) -> str:
    """
    >>> duration(0.0016512), duration(2.5e-6), duration(0.0)
    ('1.65 ms', '2.5 µs', '0 ns')
    """
    for scale, unit in SCALES:
        if abs(seconds) >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def ratio(value: float | None) -> str:
    """
    >>> ratio(1.234), ratio(0.05), ratio(123.4), ratio(None)
    ('1.23', '0.05', '123', '–')
    """
    return NOTHING if value is None else f"{value:.0f}" if value >= 100 else f"{value:.2f}"


def head(record: Record) -> str:
    """Where, with what and how a record was made."""
    machine, software, load = record.machine, record.software, record.load
    caches = ", ".join(f"{name} {size >> 10} KiB" for name, size in machine["cache_bytes"].items())
    packages = ", ".join(f"{name} {v}" for name, v in software["packages"].items() if v)
    changed = " with changes" if software["changed"] else ""
    lines = [
        f"# Measurements of {record.date}",
        "",
        f"- machine: {machine['processor']}, {machine['cores']} cores, {caches}, {machine['vector_bits']}-bit vectors",
        f"- system: {machine['system']}, {machine['libc']}, Python {software['python']}, {packages}",
        f"- compiler: {software['compiler']}, {' '.join(software['flags'])}",
        f"- commit: {software['commit'] or 'unknown'}{changed}",
        f"- settings: {', '.join(f'{k} {v}' for k, v in record.settings.items())}",
        f"- load average: {load['before'][0]} before, {load['after'][0]} after{_loaded(record)}",
        "",
    ]
    return "\n".join(lines)


def _loaded(record: Record) -> str:
    """A word where something else was running."""
    busy = record.load["before"][0] > 0.3
    return " — **the machine was not idle at the start: these figures are noisy**" if busy else ""


def _comparison(rows: Sequence[Comparison], threads: int, names: Sequence[str]) -> str:
    ours, *others = names
    bars = [name for name in others if any(row.ratios.get(name) for row in rows)]
    title = f"## {ours} against {', '.join(bars) or 'nobody'}, {threads} thread{'s' * (threads > 1)}"
    why = "Time of the other over ours: above 1 we are faster. `out=`: results written into arrays that were there."
    ratios = aligned_rows(_ratio_head(bars), [_ratio_row(row, ours, bars) for row in rows])
    there = [name for name in names if any(row.results[name].first_seconds is not None for row in rows)]
    seconds = aligned_rows(_time_head(there), [_time_row(row, there) for row in rows])
    missing = [f"- {row.case}: {name}: {r.missing}" for row in rows for name, r in row.results.items() if r.missing]
    caption = "Medians, and in brackets the first call with what it builds:"
    parts = [title, "", why, "", ratios, "", caption, "", seconds]
    return "\n".join([*parts, *(["", "Not measured:", "", *_grouped(missing)] if missing else []), ""])


def _ratio_head(others: Sequence[str]) -> list[str]:
    forms = [f"{mark}{name}" for mark in ("", "out= ") for name in others]
    return ["operator", *forms, "ours", "out= ours", "rate", "of a copy", "out= of a copy"]


def _ratio_row(row: Comparison, ours: str, others: Sequence[str]) -> list[str]:
    forms = ("fresh", "preallocated")
    ratios = [ratio(row.ratios.get(name, {}).get(form)) for form in forms for name in others]
    result = row.results[ours]
    times = [_seconds(getattr(result, form)) for form in forms]
    return [row.case, *ratios, *times, _rate(row, result), *[_share(row, result, form) for form in forms]]


def _rate(row: Comparison, result: Result) -> str:
    """GFLOP/s, or GB/s where memory is what counts or nothing is computed, of the faster form."""
    times = [t.seconds for t in (result.fresh, result.preallocated) if t]
    if not times:
        return NOTHING
    if row.memory_bound or not row.flops:
        return f"{row.bytes_moved / min(times) / 1e9:.3g} GB/s"
    return f"{row.flops / min(times) / 1e9:.3g} GFLOP/s"


def _share(row: Comparison, result: Result, form: str) -> str:
    """The time of a copy of as many bytes over ours."""
    copy, ours = row.copy and getattr(row.copy, form), getattr(result, form)
    return f"{100 * copy.seconds / ours.seconds:.0f} %" if copy and ours else NOTHING


def _time_head(names: Sequence[str]) -> list[str]:
    return ["operator", *[f"{mark}{name}" for name in names for mark in ("", "out= ")], "copy", "largest difference"]


def _time_row(row: Comparison, names: Sequence[str]) -> list[str]:
    cells: list[str] = []
    for name in names:
        result = row.results[name]
        first = f" [{duration(result.first_seconds)}]" if result.first_seconds is not None else ""
        cells += [_seconds(result.fresh) + first, _seconds(result.preallocated)]
    differences = [r.difference for r in row.results.values() if r.difference is not None]
    copy = _seconds(row.copy.preallocated if row.copy else None)
    return [row.case, *cells, copy, f"{max(differences, default=0):.1g}"]


def _seconds(timing: Timing | None) -> str:
    return duration(timing.seconds) if timing else NOTHING


def _latencies(rows: Sequence[Latency]) -> str:
    lines = ["## Latencies", ""]
    for group in dict.fromkeys(row.group for row in rows):
        cells = [_latency_row(row) for row in rows if row.group == group]
        lines += [f"### {group}", "", aligned_rows(["what", "median", "quartiles", "asked", "how"], cells), ""]
    return "\n".join(lines)


def _latency_row(row: Latency) -> list[str]:
    spread = f"{duration(row.timing.lower)} to {duration(row.timing.upper)}"
    asked = f"under {duration(row.limit_seconds)}" if row.limit_seconds else ""
    missed = " **(missed)**" if row.limit_seconds and row.timing.seconds > row.limit_seconds else ""
    return [row.part, duration(row.timing.seconds), spread, asked + missed, row.how]


def aligned_rows(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table with aligned columns: names to the left, numbers to the right."""
    cells = [list(map(str, row)) for row in [head, *rows]]
    widths = [max(len(row[n]) for row in cells) for n in range(len(head))]
    lines = ["| " + " | ".join(_aligned(row, widths)) + " |" for row in cells]
    rule = "|" + "|".join(f":{'-' * (w + 1)}" if n == 0 else f"{'-' * (w + 1)}:" for n, w in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _aligned(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    for n, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield cell.ljust(width) if n == 0 else cell.rjust(width)


def _grouped(lines: Sequence[str]) -> list[str]:
    """One line a reason, with all cases it concerns."""
    reasons: dict[str, list[str]] = {}
    for line in lines:
        case, _, why = line.removeprefix("- ").partition(": ")
        reasons.setdefault(why, []).append(case)
    named = {why: ", ".join(cases) if len(cases) < 4 else f"{len(cases)} cases" for why, cases in reasons.items()}
    return [f"- {why} ({cases})" for why, cases in named.items()]
