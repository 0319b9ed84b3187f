"""Instruction set levels: one library holds kernels for each, and takes the highest that the processor has."""

from __future__ import annotations

from dataclasses import replace

from workbench.records import record
from workbench.runtime import this_machine
from workbench.target import Target
from workbench.target_cpus import CPUS


@record
class Level:
    """A kind of processor: `name` for C, the Target its kernels are made for, and the C that asks for it."""

    name: str
    target: Target
    test: str


def _target(name: str, march: str, **facts: object) -> Target:
    known = CPUS.get(name, {})
    return replace(Target(), **{**known, "name": name, "march": march, "parallel": "host", **facts})


LEVELS: dict[str, tuple[Level, ...]] = {
    "x86_64": (
        Level("avx512", _target("avx512", "x86-64-v4"), "wb_cpu_has_avx512()"),
        Level("avx2", _target("avx2", "x86-64-v3"), "wb_cpu_has_avx2()"),
        Level("baseline", _target("x86-64", "x86-64", isa=("sse2",)), "1"),
    ),
    "aarch64": (
        Level("sve512", _target("sve512", CPUS["sve512"]["march"]), "wb_cpu_sve_bits() == 512"),
        Level("sve256", _target("sve256", CPUS["sve256"]["march"]), "wb_cpu_sve_bits() == 256"),
        Level("neon", _target("neon", CPUS["neon"]["march"]), "1"),
    ),
}
"""Architecture → its levels, the highest first; the last runs everywhere."""


def here() -> Level:
    """This machine as the only level: for libraries that stay where they are made."""
    return Level("native", replace(this_machine(), parallel="host"), "1")
