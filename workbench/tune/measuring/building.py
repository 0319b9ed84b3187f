"""The builder's side: from a point to a schedule, its features, and a library in a folder of the study."""

from __future__ import annotations

import pickle
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench import errors
from workbench.codegen import generate
from workbench.codegen.kernel import Signature
from workbench.records import record
from workbench.runtime.bare import build_bare
from workbench.runtime.toolchain import Toolchain
from workbench.schedules import Schedule
from workbench.schedules.micro_kernels import MicroKernel, register
from workbench.target import Target
from workbench.tune.models.features import features_of
from workbench.tune.trials import Outcome


@record
class Task:
    """What every candidate of a study shares; `kernels` are the micro-kernels that the user registered."""

    sketch: Any
    target: Target
    toolchain: Toolchain
    folder: str
    kernels: tuple[MicroKernel, ...] = ()
    unchecked: bool = False


@record
class Request:
    """A point to build, or a schedule that is given."""

    number: int
    point: Mapping[str, Any]
    schedule: Schedule | None = None


@record
class Built:
    """A candidate that was built (`outcome` is None), or why not; `key` is equal for schedules of one computation."""

    number: int
    outcome: Outcome | None = None
    message: str = ""
    key: str = ""
    record: str = ""
    steps: str = ""
    library: str = ""
    signature: Signature | None = None
    sizes: Mapping[str, int] | None = None
    features: Mapping[str, float] | None = None
    seconds: float = 0.0


@record
class Look:
    """Points whose features are wanted."""

    points: tuple[Mapping[str, Any], ...]


_task: Task | None = None


def answer(request: Task | Request | Look) -> Built | list[dict[str, float] | None] | None:
    """What the helper process of a builder does."""
    global _task
    if isinstance(request, Task):
        _task = request
        for kernel in request.kernels:
            register(kernel)
        return None
    assert _task is not None
    if isinstance(request, Look):
        return [features_at(_task.sketch, p, _task.target) for p in request.points]
    return built(_task, request)


def features_at(sketch: Any, point: Mapping[str, Any], target: Target) -> dict[str, float] | None:
    """The features of a point; None where it is no legal schedule."""
    try:
        return features_of(sketch.at(point), target)
    except errors.WorkbenchError:
        return None


def built(task: Task, request: Request) -> Built:
    """Build one candidate; whatever is wrong with it is part of the answer."""
    begun = time.perf_counter()

    def refused(outcome: Outcome, error: Exception) -> Built:
        return Built(request.number, outcome, _said(error), seconds=time.perf_counter() - begun)

    try:
        schedule = request.schedule or task.sketch.at(request.point)
        if not schedule.verdict:
            raise errors.IllegalSchedule(schedule.verdict.explain())
    except errors.BudgetExceeded as error:
        return refused("not built", error)
    except errors.ScheduleError as error:
        return refused("illegal", error)
    known = Built(request.number, None, "", schedule.key, schedule.to_json(), schedule.steps())
    try:
        kernel = generate(schedule, task.target, unchecked=task.unchecked)
        folder = Path(task.folder) / str(request.number)
        folder.mkdir(exist_ok=True)
        library = build_bare(kernel, task.toolchain, folder)
        known = replace(known, features=features_of(schedule, task.target))
    except errors.WorkbenchError as error:
        return replace(known, outcome="not built", message=_said(error), seconds=time.perf_counter() - begun)
    return replace(
        known, library=str(library), signature=kernel.signature, sizes=kernel.sizes, seconds=time.perf_counter() - begun
    )


def _said(error: Exception) -> str:
    """The first argument of an error: its text without the repairs, which take time to find."""
    return str(error.args[0]) if error.args else type(error).__name__


def portable(task: Task) -> bool:
    """Whether a task can be sent to another process (functions as constraints, for one, cannot)."""
    try:
        pickle.dumps(task)
    except Exception:  # whatever a user's function raises
        return False
    return True
