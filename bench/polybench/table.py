"""The PolyBench record as tables: times, ratios, and what our schedule of each kernel is."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from bench.record import Comparison, Record
from bench.table import NOTHING, aligned_rows, duration, head, ratio

OURS, BASELINE, FORM = "workbench", "sequential", "preallocated"


def markdown(record: Record) -> str:
    """The whole record."""
    parts = [head(record)]
    for threads in dict.fromkeys(row.threads for row in record.comparisons):
        parts.append(_section([row for row in record.comparisons if row.threads == threads], threads))
    return "\n".join(parts)


def _section(rows: Sequence[Comparison], threads: int) -> str:
    others = [c for c in rows[0].results if c != OURS]
    title = f"## {threads} thread{'s' * (threads > 1)}: time of the other over ours"
    columns = ["kernel", "ours", "GFLOP/s", *others, "best other", "scheduled, built in"]
    lines = [title, "", aligned_rows(columns, [_row(row, others) for row in rows]), "", *_means(rows, others), ""]
    lines += [
        "What our schedule is:",
        "",
        *[f"- {row.case}: {row.results[OURS].function or row.results[OURS].missing}" for row in rows],
    ]
    missing = {
        (name, r.missing.split(":")[0]): r.missing for row in rows for name, r in row.results.items() if r.missing
    }
    wrong = [f"- {row.case}, {name}: {r.missing}" for row in rows for name, r in row.results.items() if r.missing]
    shown = wrong if len(missing) > 3 or len(wrong) < 6 else [f"- {name}: {why}" for (name, _), why in missing.items()]
    flags = [f"- {name}: {r.function}" for name, r in rows[0].results.items() if name != OURS and r.function]
    return "\n".join([*lines, "", "Compilers:", "", *flags, *(["", "Not measured:", "", *shown] if shown else []), ""])


def _row(row: Comparison, others: Sequence[str]) -> list[str]:
    own = row.results[OURS].preallocated
    rate = f"{row.flops / own.seconds / 1e9:.3g}" if own and row.flops else NOTHING
    cells = [ratio(row.ratios.get(name, {}).get(FORM)) for name in others]
    first = row.results[OURS].first_seconds
    return [
        row.case,
        duration(own.seconds) if own else NOTHING,
        rate,
        *cells,
        ratio(best(row)),
        duration(first) if first else NOTHING,
    ]


def best(row: Comparison) -> float | None:
    """Time of the fastest other over ours."""
    known = [r[FORM] for r in row.ratios.values() if FORM in r]
    return min(known) if known else None


def _means(rows: Sequence[Comparison], others: Sequence[str]) -> list[str]:
    """Geometric means, and who is slower than the sequential text."""
    found = []
    for name, values in [
        *((name, [row.ratios.get(name, {}).get(FORM) for row in rows]) for name in others),
        ("the best of them", [best(row) for row in rows]),
    ]:
        known = [v for v in values if v]
        if known:
            found.append(f"- over {name}: {exp(sum(map(log, known)) / len(known)):.2f} geometric mean of {len(known)}")
    slow = [row.case for row in rows if (row.ratios.get(BASELINE, {}).get(FORM) or 1.0) < 0.95]
    return [*found, f"- slower than the sequential text (under 0.95): {', '.join(slow) or 'none'}"]
