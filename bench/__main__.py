"""`python -m bench`: run the suite and the latencies, write JSON and a table, print the table."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from bench import facts
from bench.contenders import BACKENDS, EVERYONE, EXPORTED, LIMITS
from bench.latency.rows import measured
from bench.page import leave
from bench.record import OUT, RESULTS, Comparison, Record, Row
from bench.rounds import Effort, compare, worker_pool
from bench.suite import BACKEND_CASES, CASES, Case
from bench.table import ratio
from bench.workers.placing import OFFSET

FULL = Effort(rounds=5, seconds=0.15)
QUICK = Effort(rounds=2, seconds=0.02)
PARTS = ("operators", "backends", "latency")
BUSY_LOAD = 0.3


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 1 if results differed or something failed, 2 for arguments that do not fit."""
    options = _options(arguments)
    cases = [case for case in CASES if not options.filters or any(f in case.name for f in options.filters)]
    if options.list or not cases:
        print("\n".join(case.name for case in CASES))
        return 0 if options.list else _refused("no case has such a name; those above are known")
    os.environ.update(LIMITS.get(options.isa or "", {}))
    os.environ[OFFSET] = str(options.offset)
    effort = Effort(options.rounds or _default(options).rounds, options.seconds or _default(options).seconds)
    before = facts.load()
    if before[0] > BUSY_LOAD:
        _say(f"load average {before[0]}: something else is running here, figures will be noisy")
    rows = tuple(_rows(options, cases, effort))
    record = Record(
        facts.machine(),
        facts.software(),
        {
            **asdict(effort),
            "quick": options.quick,
            "contenders": list(options.contenders),
            "isa": options.isa or "all",
            "offset": options.offset,
        },
        {"before": before, "after": facts.load()},
        rows,
        datetime.now(UTC).isoformat(timespec="seconds"),
    )
    leave(record, options.output or (OUT if options.quick else RESULTS))
    return int(_went_wrong(rows))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench", description=__doc__)
    add = parser.add_argument
    add("filters", nargs="*", help="parts of names of cases; all cases if none")
    add("--list", action="store_true", help="the names of all cases")
    add("--quick", action="store_true", help="few and short rounds, into bench/out")
    add("--only", type=_names, help=f"with commas: {','.join(PARTS)} (all; operators if there are filters)")
    everyone = ",".join((*EVERYONE, EXPORTED))
    add("--contenders", type=_names, default=EVERYONE, help=f"with commas: {everyone} (ours stays)")
    add("--threads", type=_names, default=("1", "all"), help="with commas: 1,all")
    add("--isa", choices=LIMITS, help="limit everybody to this instruction set")
    add("--offset", type=int, choices=range(0, 64, 16), default=0, help="bytes from a line to arrays (NumPy's: 16)")
    add("--rounds", type=_positive(int), help=f"turns for each contender ({FULL.rounds})")
    add("--seconds", type=_positive(float), help=f"length of a turn ({FULL.seconds})")
    add("--output", type=Path, help="folder for the JSON and the table")
    options = parser.parse_args(arguments)
    options.only = options.only or (("operators",) if options.filters else PARTS)
    for what, given, known in (("contender", options.contenders, (*EVERYONE, EXPORTED)), ("part", options.only, PARTS)):
        if unknown := set(given) - set(known):
            parser.error(f"unknown {what} {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    options.threads = _thread_counts(options.threads, parser)
    return options


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _positive(kind: type[int] | type[float]) -> Callable[[str], float]:
    """A number above 0."""

    def positive(text: str) -> float:
        number = kind(text)
        if not 0 < number < float("inf"):
            raise ValueError
        return number

    return positive


def _thread_counts(texts: Sequence[str], parser: argparse.ArgumentParser) -> list[int]:
    """Numbers of threads; "all" is one for each core."""
    cores = facts.machine()["cores"]
    if not all(text == "all" or (text.isdigit() and 1 <= int(text) <= cores) for text in texts):
        parser.error(f"--threads takes numbers up to {cores} and 'all'")
    return list(dict.fromkeys(cores if text == "all" else int(text) for text in texts))


def _default(options: argparse.Namespace) -> Effort:
    return QUICK if options.quick else FULL


def _rows(options: argparse.Namespace, cases: Sequence[Case], effort: Effort) -> Iterator[Row]:
    if "operators" in options.only:
        names = list(dict.fromkeys(["workbench", *options.contenders]))
        for threads in options.threads:
            yield from _compared(cases, names, threads, effort)
    if "backends" in options.only:
        few = [case for case in cases if case.name in BACKEND_CASES]
        for threads in options.threads if few else []:
            yield from _compared(few, ["workbench", *BACKENDS], threads, effort)
    if "latency" in options.only:
        yield from measured(_say, quick=options.quick)


def _compared(cases: Sequence[Case], contenders: Sequence[str], threads: int, effort: Effort) -> Iterator[Comparison]:
    with worker_pool(contenders, threads) as workers:
        for case in cases:
            row = compare(case, workers, effort)
            ratios = [f"{name} {ratio(found.get('fresh'))}" for name, found in row.ratios.items() if found]
            _say(f"{threads} thread{'s' * (threads > 1)}, {case.name}: {', '.join(ratios) or 'no peer'}")
            yield row


def _went_wrong(rows: Sequence[Row]) -> bool:
    """Whether a contender that was there failed, or computed something else."""
    comparisons = [row for row in rows if isinstance(row, Comparison)]
    reasons = [result.missing for row in comparisons for result in row.results.values()]
    return any(reason.startswith(("failed", "differs")) for reason in reasons)


def _refused(why: str) -> int:
    _say(why)
    return 2


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    # So that processes and folders of a run that is ended from outside end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
