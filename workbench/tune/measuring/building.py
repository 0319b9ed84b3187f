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
from workbench.runtime.calls.bare import build_bare
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.schedules import Schedule
from workbench.schedules.kernels.micro_kernels import MicroKernel, register
from workbench.target import Target
from workbench.tune.models.features import features_of
from workbench.tune.models.object_code import object_features
from workbench.tune.trials import Outcome


@record
class Task:
    """What every candidate of a study shares; `kernels` are the micro-kernels that the user registered.

    Where they are `ranked`, each gets an estimate: nothing will measure them.
    """

    sketch: Any
    target: Target
    toolchain: Toolchain
    folder: str
    kernels: tuple[MicroKernel, ...] = ()
    unchecked: bool = False
    ranked: bool = False


@record
class Request:
    """A point to build, or a schedule that is given."""

    number: int
    point: Mapping[str, Any]
    schedule: Schedule | None = None


@record
class Built:
    """A candidate that was built (`outcome` is None), or why not; `key` is equal for schedules of one computation.

    `library` is the file that the process which runs it loads, `estimate` the seconds that a model expects.
    """

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
    estimate: float | None = None


@record
class Look:
    """Points of which is wanted what their schedules show."""

    points: tuple[Mapping[str, Any], ...]


@record
class Seen:
    """What the schedule of a point shows before it is built: its key, the decisions that it follows from, features."""

    key: str
    follows: tuple[str, ...]
    features: Mapping[str, float]


_task: Task | None = None

KEPT = 256
"""Schedules that a builder keeps after it looked at them, for when one is to be built."""

Looked = tuple[Schedule, Seen]
_kept: dict[str, Looked | errors.WorkbenchError] = {}


def answer(request: Task | Request | Look) -> Built | list[Seen | None] | None:
    """What the helper process of a builder does."""
    global _task
    if isinstance(request, Task):
        _task = request
        _kept.clear()
        for kernel in request.kernels:
            register(kernel)
        return None
    assert _task is not None
    if isinstance(request, Look):
        return [_looked_and_kept(_task, p) for p in request.points]
    return built(_task, request, _kept.get(named(request.point)) if request.schedule is None else None)


def seen_at(sketch: Any, point: Mapping[str, Any], target: Target) -> Seen | None:
    """What the schedule of a point shows; None where it is no legal schedule."""
    found = _looked_at(sketch, point, target)
    return None if isinstance(found, errors.WorkbenchError) else found[1]


def _looked_at(sketch: Any, point: Mapping[str, Any], target: Target) -> Looked | errors.WorkbenchError:
    try:
        schedule, follows = sketch.followed(point)
        return schedule, Seen(schedule.key, follows, features_of(schedule, target))
    except errors.WorkbenchError as error:
        return error


def _looked_and_kept(task: Task, point: Mapping[str, Any]) -> Seen | None:
    """What the schedule of a point shows, which is kept for when it is to be built, as is why there is none."""
    found = _looked_at(task.sketch, point, task.target)
    while len(_kept) >= KEPT:
        del _kept[next(iter(_kept))]
    _kept[named(point)] = found
    return None if isinstance(found, errors.WorkbenchError) else found[1]


def named(point: Mapping[str, Any]) -> str:
    """A point as a text that is equal for equal points."""
    return repr(sorted(point.items()))


def built(task: Task, request: Request, looked: Looked | errors.WorkbenchError | None = None) -> Built:
    """Build one candidate, whose schedule may be known, or why there is none; whatever is wrong with it is part of the
    answer.
    """
    begun = time.perf_counter()

    def refused(outcome: Outcome, error: Exception) -> Built:
        return Built(request.number, outcome, _said(error), seconds=time.perf_counter() - begun)

    try:
        if isinstance(looked, errors.WorkbenchError):
            raise looked
        schedule = request.schedule or (looked[0] if looked else task.sketch.at(request.point))
        if not schedule.verdict:
            raise errors.IllegalSchedule(schedule.verdict.explain())
    except errors.BudgetExceeded as error:
        return refused("not built", error)
    except errors.ScheduleError as error:
        return refused("illegal", error)
    except errors.WorkbenchError as error:
        return refused("not built", error)
    known = Built(request.number, None, "", schedule.key, schedule.to_json(), schedule.steps())
    try:
        folder = Path(task.folder) / str(request.number)
        folder.mkdir(exist_ok=True)
        known = _made(task, schedule, folder, known)
        features = looked[1].features if looked else features_of(schedule, task.target)
        known = replace(known, features={**features, **(known.features or {})})
    except errors.WorkbenchError as error:
        return replace(known, outcome="not built", message=_said(error), seconds=time.perf_counter() - begun)
    return replace(known, seconds=time.perf_counter() - begun)


def _made(task: Task, schedule: Schedule, folder: Path, known: Built) -> Built:
    """What is to be run, in a folder."""
    if task.target.dialect == "c":
        kernel = generate(schedule, task.target, unchecked=task.unchecked)
        library = build_bare(kernel, task.toolchain, folder)
        known = replace(known, library=str(library), signature=kernel.signature, sizes=kernel.sizes)
        return replace(known, features=object_features(library))
    from workbench.tune.measuring.gpu_building import gpu_candidate  # who tunes for processors does without

    made = gpu_candidate(schedule, task.target, folder, ranked=task.ranked, unchecked=task.unchecked)
    own = made.kernel
    known = replace(known, library=str(made.file), signature=own.signature, sizes=own.sizes)
    return replace(known, estimate=made.estimate, message=made.said)


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
