"""What an export would do: its files, made in a folder that nobody sees; its kernels, and when each of them runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench import export
from workbench.export.dispatch import Family, family_of
from workbench.export.dispatch.family import described
from workbench.records import record
from workbench.schedules import Schedule
from workbench.viz.panels.exporting.ways import Way

LONGEST = 200_000  # characters of a text that are shown


@record
class File:
    """Where a file lies for now, its length in bytes, and whether it is a text."""

    path: Path
    bytes: int
    is_text: bool


@record(eq=False)
class Look:
    """`files` by the names that they will have; `kernels`: (steps, sizes that it runs for); `built`: their titles."""

    files: Mapping[str, File]
    kernels: tuple[tuple[str, str], ...]
    built: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    signature: str = ""


def look(way: Way, schedule: Schedule, folder: Path) -> Look:
    """Export into a folder, or say what would be registered; raises what the export raises."""
    family = family_of(schedule)
    if way.signature is not None:
        return Look({}, _guards(family), signature=way.signature(family))
    made: Any = getattr(export, way.name)(schedule, folder / way.file(schedule.program.name))
    return Look(_files(folder), _guards(family), tuple(made.kernels), tuple(made.notes))


def _guards(family: Family) -> tuple[tuple[str, str], ...]:
    """Each kernel in the order in which they are tried."""
    own = [(variant.schedule.steps(), str(variant)) for variant in family.variants]
    bound = [f" with {described(p.sizes)}" if p.sizes else "" for p in family.fallbacks]
    return (*own, *(("the default recipe", f"all other sizes{values}") for values in bound))


def _files(folder: Path) -> dict[str, File]:
    found = sorted((path.relative_to(folder), path) for path in folder.rglob("*") if path.is_file())
    return {name.as_posix(): File(p, p.stat().st_size, text_of(p) is not None) for name, p in found}


def text_of(path: Path) -> str | None:
    """The text of a file, no more than can be read; None where it is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    more = len(text) - LONGEST
    return text if more <= 0 else f"{text[:LONGEST]}\n... {more:,} characters more"
