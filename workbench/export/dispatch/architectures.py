"""What can be compiled here for which architecture: its levels with their kernels, and the compiler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.errors import BuildError
from workbench.export.dispatch.family import Family
from workbench.export.dispatch.levels import LEVELS, Level
from workbench.export.dispatch.objects import Source
from workbench.export.dispatch.units import Unit, units_of
from workbench.runtime.compilers.discovery import every_toolchain, preferred_toolchain
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.runtime.emulation.cross_execution import emulation
from workbench.runtime.host.processor import this_processor


def native() -> str:
    """The architecture of this machine, by the names of `LEVELS`."""
    return "aarch64" if this_processor().architecture in ("aarch64", "arm64") else "x86_64"


def levels_of(
    family: Family, architecture: str, stem: str = ""
) -> tuple[list[tuple[Level, list[Unit]]], list[str]]:  # fmt: skip
    """The levels that a compiler here can make, with their kernels; and why others are left out."""
    found, notes = [], []
    for level in LEVELS[architecture]:
        units = units_of(family, level, stem)
        if lacking := [n for u in units for n in u.kernel.needs if n not in level.target.isa]:
            notes.append(f"{level.name}: left out, its micro-kernels need {', '.join(dict.fromkeys(lacking))}")
            continue
        found.append((level, units))
    if not found:
        raise BuildError(f"{family.op.name}: no kernel is left for {architecture}: {'; '.join(notes)}")
    return found, notes


def compiler_for(architecture: str, sources: Sequence[Source]) -> Toolchain:
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
