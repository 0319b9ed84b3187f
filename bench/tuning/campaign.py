"""A campaign: cases that are tuned one after the other.

What is done stands in a journal, a line of JSON a case, so that a campaign can be made in pieces; its page is written
from the journal.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import facts
from bench.page import leave
from bench.record import OUT, RESULTS, Record, Tuned, row
from workbench.records import record

SECONDS = 200.0


@record
class Campaign:
    """`name` is the campaign's, as in the names of its files; `run(case, trials)` tunes one of the `cases`."""

    name: str
    title: str
    trials: int
    cases: Mapping[str, Any]
    run: Callable[[str, int], Tuned]


def main(campaign: Campaign, arguments: Sequence[str] | None = None) -> int:
    """Run cases that are not in the journal yet, or write the page of what is there."""
    options = _options(campaign, arguments)
    wanted = [c for c in campaign.cases if not options.filters or any(f in c for f in options.filters)]
    if options.list:
        print("\n".join(wanted))
        return 0
    if options.page:
        leave(page(campaign, options.journal), options.output, f"-tuning-{campaign.name}")
        return 0
    end = time.monotonic() + options.seconds
    before = facts.load()
    for case in _left(wanted, options.journal):
        if time.monotonic() >= end:
            return 3
        found = campaign.run(case, options.trials)
        keep(options.journal, {"row": asdict(found), "load": before, "commit": facts.short_commit()})
        gain = f"{found.gain:.2f}" if found.gain else "no"
        print(f"{case}: gain {gain}, {found.facts.get('wall_seconds', 0.0):.1f} s", file=sys.stderr, flush=True)
    return 0


def page(campaign: Campaign, journal: Path) -> Record:
    """Everything that stands in a journal, in the order of the cases, with where and with what it was made."""
    lines = list(read_journal(journal))
    order = {case: n for n, case in enumerate(campaign.cases)}
    rows = sorted((row(line["row"]) for line in lines), key=lambda r: order.get(r.case, len(order)))  # type: ignore[union-attr]
    loads = [line["load"] for line in lines] or [facts.load()]
    commits = sorted({line["commit"] for line in lines})
    settings = {"campaign": campaign.name, "title": campaign.title, "commits": commits}
    when = datetime.now(UTC).isoformat(timespec="seconds")
    load = {"before": loads[0], "after": loads[-1]}
    return Record(facts.machine(), facts.software(), settings, load, tuple(rows), when)


def keep(journal: Path, line: dict[str, Any]) -> None:
    """Append a line, on a line of its own also where the last one was broken off."""
    journal.parent.mkdir(parents=True, exist_ok=True)
    known = journal.read_text(encoding="utf-8") if journal.exists() else ""
    broken = bool(known) and not known.endswith("\n")
    with journal.open("a", encoding="utf-8") as file:
        file.write("\n" * broken + json.dumps(line, allow_nan=False) + "\n")


def read_journal(journal: Path) -> Iterator[dict[str, Any]]:
    """The lines of a journal, the last one of each case; a line that was broken off is left out."""
    found: dict[str, dict[str, Any]] = {}
    for text in journal.read_text(encoding="utf-8").splitlines() if journal.exists() else ():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue
        found[line["row"]["case"]] = line
    yield from found.values()


def _left(wanted: Sequence[str], journal: Path) -> list[str]:
    done = {line["row"]["case"] for line in read_journal(journal)}
    return [case for case in wanted if case not in done]


def _options(campaign: Campaign, arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(f"python -m bench.tuning.{campaign.name}", description=campaign.title)
    add = parser.add_argument
    add("filters", nargs="*", help="parts of names of cases; all cases if none")
    add("--list", action="store_true", help="the names of the cases")
    add("--trials", type=int, default=campaign.trials, help=f"of each case ({campaign.trials})")
    add("--seconds", type=float, default=SECONDS, help=f"begin no case after so many ({SECONDS:g}); exit status 3 then")
    add("--journal", type=Path, default=OUT / f"tuning-{campaign.name}.jsonl", help="what is done")
    add("--page", action="store_true", help="write the JSON and the table of what the journal has")
    add("--output", type=Path, default=RESULTS, help="the folder for them")
    return parser.parse_args(arguments)
