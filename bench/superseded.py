"""`bench/results` keeps the latest figures of each machine and kind: `python -m bench.superseded` deletes the others.

A file goes when later ones of the same machine and kind have measured each of its rows again; git remembers it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.record import RESULTS, Comparison, Latency, Record, Row, read

Kind = tuple[str, str, str]
Measured = tuple[str, str, int, str]


def delete_superseded(folder: Path) -> list[Path]:
    """Delete what later records of a folder make old, pages and pictures too; the files that are gone."""
    gone = [file for old in superseded(folder) for file in _beside(old)]
    for file in gone:
        file.unlink()
    return gone


def superseded(folder: Path) -> list[Path]:
    """The JSON files whose every row stands in a later one of the same machine and kind, and no other formats."""
    later: dict[Kind, set[Measured]] = {}
    old = []
    for file, record in sorted(_records(folder), key=lambda pair: pair[1].date, reverse=True):
        known, own = later.setdefault(kind(file, record), set()), set(measured(record))
        if own and own <= known:
            old.append(file)
        known |= own
    return old[::-1]


def kind(file: Path, record: Record) -> Kind:
    """The machine, what was measured (the end of the file's name), and to which instructions all were limited."""
    _, _, subject = file.stem.partition("-")[2].partition("-")
    return str(record.machine["processor"]), subject, str(record.settings.get("isa", "all"))


def measured(record: Record) -> Iterator[Measured]:
    """What has a time: kind of row, case, threads, contender."""
    for row in record.rows:
        yield from ((row.kind, *cell) for cell in _cells(row))


def _cells(row: Row) -> list[tuple[str, int, str]]:
    match row:
        case Comparison(case, threads=threads, results=results):
            return [(case, threads, name) for name, result in results.items() if not result.missing]
        case Latency(group, part):
            return [(f"{group}: {part}", 0, "")]
        case _:
            return [(row.case, row.threads, "")]


def _records(folder: Path) -> Iterator[tuple[Path, Record]]:
    for file in sorted(folder.glob("*.json")):
        try:
            yield file, read(file)
        except (ValueError, TypeError, AttributeError):
            continue  # of a GPU, of whole models, or of another version


def _beside(record: Path) -> list[Path]:
    """The JSON, its page and its pictures; not those of a record whose name goes on."""
    others = [other.stem for other in record.parent.glob(f"{record.stem}-*.json")]
    named = sorted(record.parent.glob(f"{record.stem}*"))
    return [file for file in named if not any(file.stem.startswith(other) for other in others)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Delete, and say what."""
    parser = argparse.ArgumentParser("python -m bench.superseded", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=RESULTS)
    for file in delete_superseded(parser.parse_args(arguments).folder):
        print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
