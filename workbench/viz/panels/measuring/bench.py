"""The processes that build, check and time the schedules of one problem, which stay warm between two clicks."""

from __future__ import annotations

import threading
from itertools import count

from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import AXES, loops
from workbench.schedules import Schedule
from workbench.target import Target
from workbench.tune.measuring.building import Request
from workbench.tune.measuring.gpu_at_hand import GpuRunner, gpu_at_hand, tuned_target
from workbench.tune.measuring.local_runner import LocalRunner
from workbench.tune.measuring.numpy_timing import NumpyRunner
from workbench.tune.measuring.runner import Assignment, Limits, Result, Runner
from workbench.tune.problem import problem_of
from workbench.tune.tuning import own_kernels

NO_GPU = "as C on this processor, as no GPU can be used here"


class Bench:
    """A runner of the tuner for one program on one machine; WorkbenchError where nothing can be measured."""

    def __init__(self, program: Program, target: Target, limits: Limits, *, on_gpu: bool = False) -> None:
        problem = problem_of(program, tuned_target("cuda") if on_gpu else target)
        self.about = str(problem)
        self.on_gpu = on_gpu
        self.program = problem.program
        self.threads = problem.threads
        self.numpy = NumpyRunner(limits, problem.threads)
        self.runner: Runner = GpuRunner(1) if on_gpu else LocalRunner(1)
        self._numbers = count(1)
        self.runner.open(
            Assignment(
                None, problem.program, problem.target, problem.toolchain, problem.threads, own_kernels(), limits
            )
        )

    def measured(self, schedule: Schedule) -> Result:
        """A schedule of the program: built, checked against the oracle, timed."""
        return next(iter(self.runner.measure([Request(next(self._numbers), {}, schedule)], None)))

    def of_numpy(self) -> Result:
        """The oracle itself."""
        return self.numpy.measure(self.program)

    def threads_of(self, schedule: Schedule) -> int:
        """Threads of the processor in a call of a schedule's kernel; 0 where a GPU runs it."""
        shared = any(loop.kind == "parallel" or loop.kind in AXES for loop in loops(schedule.tree))
        return 0 if self.on_gpu and wants_gpu(schedule) else self.threads if shared else 1

    def close(self) -> None:
        """End what runs, and all processes, without waiting for them."""
        self.numpy.close()
        threading.Thread(target=self.runner.close, name="closing a bench", daemon=True).start()


def wants_gpu(schedule: Schedule) -> bool:
    """Whether loops are bound to what only a GPU has."""
    return any(loop.kind in AXES for loop in loops(schedule.tree))


def has_gpu(schedule: Schedule) -> bool:
    """Whether it wants a GPU, and there is one."""
    return wants_gpu(schedule) and gpu_at_hand() is not None
