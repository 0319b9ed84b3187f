"""The C of one operator for a library that several share: sources, what they include, and words on its kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from workbench.export.dispatch.architectures import levels_of
from workbench.export.dispatch.family import Family
from workbench.export.dispatch.front import front_text
from workbench.export.dispatch.levels import LEVELS, Level
from workbench.export.dispatch.objects import Source
from workbench.export.dispatch.units import Unit, units_of
from workbench.records import record


@record(eq=False)
class Part:
    """What is compiled for one family: C files, texts and bytes that they include; its kernels in words, and notes."""

    sources: tuple[Source, ...]
    kernels: tuple[str, ...]
    notes: tuple[str, ...] = ()
    headers: Mapping[str, str | bytes] = field(default_factory=dict)


def part_of(family: Family, architecture: str, key: str) -> Part:
    """The C of a family for an architecture; names that the linker sees have `key` in them.  BuildError if no level is
    left."""
    if family.whole is not None:
        return family.whole.part(LEVELS[architecture], key)
    levels, notes = levels_of(family, architecture, f"f{key}_")
    return replace(_part(family, levels, key), notes=tuple(notes))


def part_for(family: Family, level: Level) -> Part:
    """The C of a family for one level, in a library of its own."""
    if family.whole is not None:
        return family.whole.part((level,), "")
    return _part(family, [(level, units_of(family, level))], "")


def _part(family: Family, levels: Sequence[tuple[Level, Sequence[Unit]]], key: str) -> Part:
    front = Source(f"front{key and '_'}{key}.c", f"{family_named(key)}{front_text(family, levels)}")
    sources = [Source(f"{u.name}.c", u.text, level.target, u.libraries) for level, units in levels for u in units]
    return Part((*sources, front), tuple(unit.title for _, units in levels for unit in units))


def family_named(key: str) -> str:
    """What a file that defines `wb_the_family` begins with, where several stand in one library."""
    return f"#define wb_the_family wb_family_{key}\n" if key else ""
