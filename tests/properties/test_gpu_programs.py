"""Random programs with random threads, barriers and atomic updates: the CUDA text computes what the oracle says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.properties.batches import compare
from tests.properties.inputs import Problem, problem
from tests.properties.ways import random_step
from tests.properties.wild_threads import THREADS
from tests.properties.writer import Writer
from tests.runtime.emulation.test_generated import on_threads, without_threads
from tests.support import examples
from workbench import schedules
from workbench.codegen import generate
from workbench.errors import BudgetExceeded, CodegenError, ScheduleError, WorkbenchError
from workbench.poly import lower
from workbench.poly.programs.tree import loops
from workbench.runtime.emulation import build_on_cpu
from workbench.runtime.emulation.records import ORDERS
from workbench.schedules import Schedule, Transform
from workbench.settings import settings

SCHEDULES = examples(quick=2, ci=8, full=1000)


def drawn(seed: int) -> tuple[Problem, Schedule] | None:
    """A problem and a schedule of it on threads; None where the program, or all that was tried, does not fit."""
    random = Random(seed)
    try:
        made = problem(Writer(random).case(f"p{seed}"), random)
        schedule = schedules.schedule(lower(made.op, made.sizes))
    except (WorkbenchError, MemoryError):  # the language refuses it, or some subscript leaves its array
        return None
    for _ in range(random.choice((0, 1, 2, 4))):
        schedule = _further(schedule, random_step(schedule, random))
    for _ in range(random.choice((0, 2, 4, 8))):
        names = [loop.name for loop in loops(schedule.tree)]
        schedule = _further(schedule, THREADS[random.choice(list(THREADS))](schedule, names, random))
    schedule = on_threads(schedule, random.choice((2, 4, 7)))
    return None if without_threads(schedule) else (made, schedule)


def _further(schedule: Schedule, step: Transform | None) -> Schedule:
    try:
        return schedule if step is None else schedule | step
    except (ScheduleError, BudgetExceeded):
        return schedule


def difference(made: Problem, schedule: Schedule, seed: int) -> str:
    """The first output that is not what the oracle says, in words; "" if there is none."""
    kernel = build_on_cpu(generate(schedule, "cuda"), order=ORDERS[seed % 3], seed=seed)
    given = {name: made.values[name].copy() for name in made.op.parameters if name in made.values}
    out = tuple(made.values[n].copy() if n in made.values else None for n in made.op.outputs)
    found = kernel(**given, out=out)
    for name, array in zip(made.op.outputs, found if isinstance(found, tuple) else (found,), strict=True):
        wrong = compare(array, made.expected[name], made.case.bounds.get(name, 0.0))
        if wrong:
            return f"{name}: {wrong}"
    return ""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path) -> Iterator[None]:
    """Kernels nobody will call again do not belong into the user's cache."""
    with settings(cache=tmp_path):
        yield


def test_random_programs_on_threads_equal_the_oracle(report):
    counts: Counter[str] = Counter()
    failures: list[str] = []
    seed = 0
    while counts["executed"] < SCHEDULES and seed < 20 * SCHEDULES:
        seed += 1
        found = drawn(seed)
        if found is None:
            counts["does not fit"] += 1
            continue
        made, schedule = found
        try:
            wrong = difference(made, schedule, seed)
        except CodegenError as refused:
            counts[f"refused: {str(refused).partition(': ')[2][:40]}"] += 1
            continue
        except WorkbenchError as error:
            wrong = f"{type(error).__name__}: {error}"
        counts["executed"] += 1
        if wrong:
            failures.append(f"seed {seed}: {wrong}\n{made.case}\n{schedule}")
    report(", ".join(f"{what} {n}" for what, n in counts.most_common()))
    assert not failures, "\n\n".join(failures[:3])
    assert counts["executed"] >= SCHEDULES // 2
