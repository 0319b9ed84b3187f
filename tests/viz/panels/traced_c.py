"""The order in which generated C executes statement instances: the product's own text, compiled with a macro in it."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import workbench as wb
from workbench.codegen.c.printer import Printer
from workbench.codegen.nest.nest import Write
from workbench.codegen.passes.register_tiles.accumulators import Lane
from workbench.lang.algebra.folding import fold

Instance = tuple[str, tuple[int, ...]]
CALL = "WB_HAPPENS("
MACRO = """#include <stdio.h>
#define WB_HAPPENS(...) do {{ int64_t wb_at[] = {{__VA_ARGS__}}; FILE *wb_log = fopen("{log}", "ab"); \\
    fwrite(wb_at, sizeof *wb_at, sizeof wb_at / sizeof *wb_at, wb_log); fclose(wb_log); }} while (0)
"""


def order_in_c(schedule: wb.Schedule) -> list[Instance]:
    """Statements by id with their instances, as one thread of the compiled kernel comes by them."""
    with mock.patch.object(Printer, "write", _write):
        traced = wb.generate(schedule)
    without = [line for line in traced.source.splitlines() if CALL not in line]
    assert without == wb.generate(schedule).source.splitlines()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        kernel = wb.build(replace(traced, source=_with_macro(traced.source, log)))
        kernel(*_arrays(schedule, kernel))
        return _read(schedule, np.fromfile(log, np.int64).tolist())


_printed = Printer.write


def _write(self: Printer, write: Write, lane: Lane) -> list[str]:
    """A statement as it is printed, and the macro with its number and its dims."""
    lines = _printed(self, write, lane)
    assert not lane.variable, "lanes of a vector have no order"
    number = [s.id for s in self.program.statements].index(write.statement)
    return [*lines, f"{CALL}{', '.join([str(number), *map(self.values.text, write.instance)])});"]


def _with_macro(source: str, log: Path) -> str:
    """The macro behind the last #include."""
    head, include, rest = source.rpartition("#include ")
    line, _, body = rest.partition("\n")
    return f"{head}{include}{line}\n{MACRO.format(log=log)}{body}"


def _arrays(schedule: wb.Schedule, kernel: Any) -> list[np.ndarray]:
    """Zeros for what the kernel reads."""
    program = schedule.program
    arrays = [program.arrays[p.name] for p in kernel.signature.inputs]
    return [np.zeros([fold(e, program.sizes) for e in a.extent], a.dtype.numpy) for a in arrays]


def _read(schedule: wb.Schedule, numbers: list[int]) -> list[Instance]:
    """The log: a statement's number, then as many values as it has dims, again and again."""
    found, rest = [], iter(numbers)
    for number in rest:
        own = schedule.program.statements[number]
        found.append((own.id, tuple(next(rest) for _ in own.dims)))
    return found
