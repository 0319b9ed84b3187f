"""The C file of each kernel, and the files of the dispatcher that are the same for all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from workbench.codegen import Kernel, generate
from workbench.export.dispatch.family import Family, Variant, described
from workbench.export.dispatch.levels import Level
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Const, Expr
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.runtime import this_machine
from workbench.runtime.kernels.border import kernel_part
from workbench.schedules import Schedule
from workbench.schedules.recipes import default_schedule
from workbench.settings import current

RUNTIME_FILES = ("dispatch.h", "dispatch.c", "processor.c")
ALWAYS = Const(1, INT64)


@record(eq=False)
class Unit:
    """One kernel for one level: a name for C, a title for people, the condition on sizes beside the bound ones."""

    name: str
    title: str
    kernel: Kernel
    condition: Expr
    fallback: bool

    @property
    def libraries(self) -> tuple[str, ...]:
        return self.kernel.libraries

    @property
    def text(self) -> str:
        """The C file: the kernel under names of its own, and what the dispatcher calls it by."""
        function = self.kernel.signature.function
        renamed = "".join(f"#define {function}{end} wb_{self.name}_{function}{end}\n" for end in ("", "_workspace"))
        return (
            f"#include <stdint.h>\n{renamed}{self.kernel.source}\n"
            f'#include "dispatch.h"\n\n{kernel_part(self.kernel.signature)}\n'
            f"const wb_code wb_code_{self.name} = {{wb_border_kernel, wb_border_workspace}};\n"
        )


def units_of(family: Family, level: Level, stem: str = "") -> list[Unit]:
    """The kernels of a family for a level, in the order in which they are tried: variants, then fallbacks.

    Their names in C begin with `stem`, where families share a library.
    """
    found = [_specialised(variant, level, n) for n, variant in enumerate(family.variants)]
    found += [_fallback(program, level, n) for n, program in enumerate(family.fallbacks)]
    return [replace(unit, name=f"{stem}{unit.name}") for unit in found]


def runtime_file(name: str) -> str:
    """The text of one of the dispatcher's files."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _specialised(variant: Variant, level: Level, number: int) -> Unit:
    """A schedule as it is where registers are as wide as here, elsewhere the recipe's for the same sizes."""
    schedule, unsafe = variant.schedule, variant.unsafe
    if level.target.vector_bits != this_machine().vector_bits and not unsafe:
        schedule = default_schedule(schedule.program.original, level.target)
    kernel = generate(schedule, level.target, unchecked=current().unchecked, unsafe=unsafe)
    title = f"{level.name}: {variant}"
    return Unit(f"{level.name}_{number}", title, kernel, variant.condition, fallback=False)


def _fallback(program: Program, level: Level, number: int) -> Unit:
    schedule: Schedule = default_schedule(program, level.target)
    kernel = generate(schedule, level.target, unchecked=current().unchecked)
    return Unit(f"{level.name}_any{number}", f"{level.name}: {described(program.sizes)}", kernel, ALWAYS, fallback=True)
