"""What an export for other machines needs: levels and compilers by architecture, and files that are put into place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from workbench.errors import BuildError, WorkbenchError, shown
from workbench.export.dispatch.family import Family
from workbench.export.dispatch.levels import LEVELS, Level
from workbench.export.dispatch.objects import Source
from workbench.export.dispatch.units import Unit, units_of
from workbench.runtime.discovery import every_toolchain, preferred_toolchain
from workbench.runtime.elsewhere import emulation
from workbench.runtime.processor import this_processor
from workbench.runtime.toolchain import Toolchain


def native() -> str:
    """The architecture of this machine, as `LEVELS` names it."""
    return "aarch64" if this_processor().architecture in ("aarch64", "arm64") else "x86_64"


def levels_of(family: Family, architecture: str) -> tuple[list[tuple[Level, list[Unit]]], list[str]]:
    """The levels that a compiler here can make, with their kernels; and why others are left out."""
    found, notes = [], []
    for level in LEVELS[architecture]:
        units = units_of(family, level)
        if lacking := [n for u in units for n in u.kernel.needs if n not in level.target.isa]:
            notes.append(f"{level.name}: left out, its micro-kernels need {', '.join(dict.fromkeys(lacking))}")
            continue
        found.append((level, units))
    if not found:
        raise BuildError(f"{family.op.name}: no kernel is left for {architecture}: {'; '.join(notes)}")
    return found, notes


def toolchain_for(architecture: str, sources: Sequence[Source]) -> Toolchain:
    """The compiler for an architecture; Clang where there is SVE, which gcc compiles wrongly."""
    sve = any(s.target is not None and "sve" in s.target.isa for s in sources)
    if architecture != native():
        if architecture != "aarch64":
            raise BuildError("no cross compiler for it is known here; build it there with CMake")
        return emulation(sve=sve).toolchain
    if not sve:
        return preferred_toolchain()
    clang = next((t for t in every_toolchain() if t.family == "clang"), None)
    if clang is None:
        raise BuildError("kernels for SVE are compiled by clang, which was not found; install it")
    return replace(clang)


# -- files


def folder_of(directory: str | PathLike[str]) -> Path:
    """The directory that an export writes into, made if it is not there."""
    try:
        folder = Path(directory).expanduser().absolute()
        folder.mkdir(parents=True, exist_ok=True)
    except (TypeError, OSError) as reason:
        raise WorkbenchError(f"directory={shown(directory)} cannot be written: {reason}") from reason
    return folder


def written(folder: Path, files: Mapping[str, str]) -> tuple[Path, ...]:
    """Write texts by their place in a folder."""
    found = []
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        found.append(path)
    return tuple(found)


def placed(place: Path, library: Path) -> Path:
    """Put a library into a folder; a program that runs keeps the file it has loaded."""
    place.mkdir(parents=True, exist_ok=True)
    staged = place / f".{os.getpid()}.{library.name}"
    shutil.copy2(library, staged)
    return staged.replace(place / library.name)
