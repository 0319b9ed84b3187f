"""A watch over the programs of one built model: which of them ran, when, and how long each node took."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING

import numpy as np

from workbench.graph.running.recording.recordings import Array
from workbench.records import record

if TYPE_CHECKING:
    from workbench.graph.running.programs import Program


@record(slots=True, eq=False)
class Run:
    """A run of a program: when it began and ended, on the clock of `perf_counter_ns`, and nanoseconds by call."""

    program: Program
    begin: int
    end: int
    nanoseconds: Array


@dataclass(eq=False)
class Watch:
    """What programs share; while `runs` is a list, each run of one of them is put into it, in order."""

    runs: list[Run] | None = None

    def timed(self, program: Program, inputs: list[Array]) -> list[Array]:
        """The results of a program, whose run is written down."""
        clock = np.zeros(len(program.calls), np.int64)
        begin = perf_counter_ns()
        found = program.run(inputs, clock)
        if self.runs is not None:
            self.runs.append(Run(program, begin, perf_counter_ns(), clock))
        return found
