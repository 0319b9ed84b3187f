"""`autotune`: start a study of an operator or a sketch."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from workbench.codegen import as_target
from workbench.errors import ScheduleError, WorkbenchError, shown
from workbench.lang.operator import Operator
from workbench.poly.programs.program import Program
from workbench.runtime.host.machine import thread_count
from workbench.schedules import Schedule, Sketch, autoschedule, recipe_sketch
from workbench.schedules.kernels.micro_kernels import ProcessorKernel, known_kernels
from workbench.schedules.scheduled_program import as_program
from workbench.schedules.sketches.space import Decision, Space
from workbench.target import Target
from workbench.tune.measuring.local_runner import LocalRunner
from workbench.tune.measuring.runner import Assignment, Limits, Runner, as_runner
from workbench.tune.problem import Problem, problem_of
from workbench.tune.relatives import others, starts
from workbench.tune.searching import Searcher, Surroundings, make_searcher
from workbench.tune.storing.database import Database, StudyKey
from workbench.tune.study import Study


def autotune(
    what: Operator | Program | Sketch,
    /,
    sizes: Mapping[str, int] | None = None,
    target: str | Target = "c",
    trials: int = 200,
    searcher: str | Callable[[Surroundings], Searcher] = "xgb",
    database: str | os.PathLike[str] | Database | None = None,
    runner: Any = None,
    seed: int | None = None,
    *,
    limits: Limits | None = None,
    default: bool = True,
) -> Study:
    """Search for the fastest schedule; returns at once, while the search goes on beside.

    `what` is a sketch, or an operator (or its program) whose space is derived, `sizes` the sizes it is called with.
    The study ends with so many `trials`: those that the database has of the same study count, so that it is taken up
    again where it was left, and 0 opens what there is.  `searcher` is one of `wb.tune.searchers()`, `database` a path
    or a URL of SQLAlchemy (by default the user's own), `runner` measures (by default this machine, see `wb.tune.dask`),
    `seed` makes the sequence of points repeatable.  Without `default` the default recipe's schedule is neither measured
    nor where the search begins.

    `target` "cuda" is this machine's GPU, "h200" one of that name.  Where there is none, candidates are compiled and
    ranked by a model (`study.ranked`): trials have estimates, and no seconds.

    `study.result()` waits; `study.best` is the fastest schedule, `study.trials` are all, with those that failed.
    """
    return made_study(what, sizes, target, trials, searcher, database, runner, seed, limits, default=default).start()


def made_study(
    what: Any, sizes: Mapping[str, int] | None, target: str | Target, trials: int, searcher: Any, database: Any,
    runner: Any, seed: int | None, limits: Limits | None, *, shared: bool = False, default: bool = True,
) -> Study:  # fmt: skip
    """A study that was not started; a `shared` one is granted its trials by and by.  WorkbenchError for what does not
    fit.
    """
    if not isinstance(trials, int) or isinstance(trials, bool) or trials < 0:
        raise WorkbenchError(f"trials={shown(trials)} does not fit; expected a whole number, 0 or more")
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool)):
        raise WorkbenchError(f"seed={shown(seed)} does not fit; expected a whole number, or None")
    machine, chosen = _measured_by(target, runner)
    alone = trials and runner is None and not shared
    with _warm(chosen if alone else None):
        sketch = _sketch(what, sizes, machine)
        problem = problem_of(sketch.schedule.program.original, machine, ranked=bool(getattr(chosen, "ranks", False)))
        _require_points(sketch)
        _require_searcher(searcher)
        store = database if isinstance(database, Database) else Database(database)
        key = _study_key(problem, sketch, searcher, seed, default)
        if trials or store.writable:
            store.add_study(key)  # what is only read can be opened as it is
        assignment = Assignment(
            sketch, problem.program, problem.target, problem.toolchain, problem.threads, own_kernels(),
            limits or Limits(), seed or 0,
        )  # fmt: skip
        study = Study(
            assignment, key, store, trials, default=autoschedule(problem.program, problem.target),
            make=lambda around: make_searcher(searcher, around), runner=chosen, others=others(store, problem),
            starts=starts(store, problem, sketch.space), shared=shared, refers=default,
        )  # fmt: skip
    if alone and study.done >= trials:
        chosen.close()
    return study


def _measured_by(target: str | Target, runner: Any) -> tuple[str | Target, Runner]:
    """(the machine that is tuned for, who measures)."""
    if target == "c" or not as_target(target).language.for_gpu:
        return target, LocalRunner() if runner is None else as_runner(runner)
    from workbench.tune.measuring.gpu_at_hand import tuned_target, usual_runner  # who tunes for C does without

    machine = tuned_target(target)
    return machine, usual_runner(machine) if runner is None else as_runner(runner)


@contextmanager
def _warm(runner: Runner | None) -> Iterator[None]:
    """A runner's processes start meanwhile, where it has some; they end again if nothing comes of it."""
    if not isinstance(runner, LocalRunner):
        yield
        return
    runner.warm(thread_count())
    try:
        yield
    except BaseException:
        runner.close()
        raise


def _sketch(what: Any, sizes: Mapping[str, int] | None, target: str | Target) -> Sketch:
    if isinstance(what, Sketch):
        if sizes:
            known = what.schedule.program.original.sizes
            if any(known.get(name) != size for name, size in sizes.items()):
                raise ScheduleError(f"the sketch was made for {known}; make it from a schedule for {dict(sizes)}")
        return what
    if isinstance(what, Schedule):
        raise ScheduleError("autotune takes an operator or a sketch: a schedule with a wb.choose(...) in it")
    if not isinstance(what, Operator | Program):
        raise ScheduleError(f"autotune takes an operator or a sketch, not {shown(what)}")
    program = as_program(what, dict(sizes or {}))
    return recipe_sketch(program, problem_of(program, target).target)


def _require_points(sketch: Sketch) -> None:
    if not sketch.space.decisions:
        raise ScheduleError("the sketch leaves nothing open: give wb.choose(16, 32) in place of an argument")
    sketch.space.sample(1, 0)  # ScheduleError says which constraints exclude every point


def _require_searcher(searcher: Any) -> None:
    """WorkbenchError for a name that is unknown, before anything starts."""
    if not callable(searcher):
        space = Space((Decision("x", (0, 1)),))
        make_searcher(searcher, Surroundings(space, random.Random(0), lambda points: [None] * len(points)))


def _study_key(problem: Problem, sketch: Sketch, searcher: Any, seed: int | None, default: bool) -> StudyKey:
    """Trials of studies with one key are one sequence."""
    try:
        text = sketch.to_json()
    except ScheduleError:  # a constraint that is a function cannot be stored: this session knows it
        text = str(sketch)
    name = searcher if isinstance(searcher, str) else getattr(searcher, "__name__", "own")
    parts = [problem.key, text, name, str(seed), *([] if default else ["no default"])]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    return StudyKey(digest, problem, text, name, str(seed))


def own_kernels() -> tuple[Any, ...]:
    """Micro-kernels that the user registered, for the processes that build."""
    return tuple(k for k in known_kernels() if not isinstance(k, ProcessorKernel) and type(k).__name__ == "MicroKernel")
