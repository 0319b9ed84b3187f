"""The results of a run on a GPU as Markdown, for people."""

from __future__ import annotations

from collections import Counter
from math import exp, log
from typing import Any

FAILURES_SHOWN = 40


def markdown(found: dict[str, Any]) -> str:
    """Machine, tests, benchmark, what went wrong."""
    facts = found["facts"]
    head = f"# On a GPU: {facts.get('gpu', 'none was found')}"
    about = [f"- {name}: {value}" for name, value in facts.items()]
    parts = [head, f"{found['date']}, sources {found['sources']}", "\n".join(about)]
    parts += [_tests(found["tests"]), _bench(found["bench"])]
    if found["notes"]:
        parts.append("## Notes\n\n" + "\n".join(f"- {note}" for note in found["notes"]))
    return "\n\n".join(part for part in parts if part)


def _tests(tests: dict[str, Any]) -> str:
    if not tests:
        return "## Tests\n\nNone were run."
    counts = Counter(entry["outcome"] for entry in tests.values())
    summary = ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common())
    wrong = [(name, e) for name, e in tests.items() if e["outcome"] not in ("passed", "skipped")]
    lines = [f"- `{name}`: {e['outcome']}: {_short(e.get('said', ''))}" for name, e in wrong[:FAILURES_SHOWN]]
    more = [f"- and {len(wrong) - FAILURES_SHOWN} more"] if len(wrong) > FAILURES_SHOWN else []
    return "\n\n".join(["## Tests", summary, *(["\n".join([*lines, *more])] if wrong else [])])


def _short(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


def _bench(bench: dict[str, Any]) -> str:
    if not bench:
        return "## Benchmark\n\nNot measured."
    names = list(dict.fromkeys(name for row in bench.values() for name in row.get("device_us", {})))
    peers = [name for name in names if not name.startswith("workbench")]
    columns = ["case", *names, "against eager", "against the best", "of a copy", "error"]
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    for case, row in bench.items():
        times = row.get("device_us", {})
        cells = [_number(times.get(name)) for name in names]
        ratios = [_number(row.get(key)) for key in ("against_eager", "against_best", "of_copy")]
        lines.append(f"| {case} | {' | '.join([*cells, *ratios])} | {_short(row.get('failed', ''))} |")
    said = "Microseconds on the device, medians; ratios above 1 mean that ours is faster."
    means = [
        f"{key.replace('_', ' ')}: geometric mean {_mean(bench, key)}" for key in ("against_eager", "against_best")
    ]
    return "\n\n".join(["## Benchmark", said, "\n".join(lines), "; ".join(means), f"Peers: {', '.join(peers)}."])


def _mean(bench: dict[str, Any], key: str) -> str:
    values = [row[key] for row in bench.values() if row.get(key)]
    return f"{exp(sum(map(log, values)) / len(values)):.2f} over {len(values)} cases" if values else "not known"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
