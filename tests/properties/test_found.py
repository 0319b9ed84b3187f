"""Every program that once went wrong, through every schedule and the steps that showed it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest

import workbench as wb
from tests.properties.batches import Compiler
from tests.properties.campaign import Batch, Tally, distinct
from tests.properties.found import FOUND, Found
from tests.properties.inputs import Problem, problem
from tests.properties.ways import Way, from_isl, ways, written
from tests.properties.writer import Case
from tests.support import examples
from workbench import lang, schedules
from workbench.poly.scheduling.scheduler import FUSIONS
from workbench.schedules.transform import applied
from workbench.target import Target

TARGET = Target(vector_bits=256)
PUBLIC = {name: getattr(wb, name) for name in wb.__all__ if name in schedules.__all__}


def made(found: Found, random: Random) -> Problem:
    op = lang.operator(found.text)
    sizes = {n: v for n, v in found.sizes.items() if n not in op.scalars}
    scalars = {n: v for n, v in found.sizes.items() if n in op.scalars}
    case = Case(found.text, sizes, scalars, {n: ("small", 0, 0) for n in op.parameters}, {})
    fixed = {n: np.array(v, op.tensors[n].dtype.numpy) for n, v in found.data.items()}
    return problem(case, random, fixed)


def every_way(number: int, found: Found) -> Iterator[Way]:
    """The usual ways, again and again (layouts and random steps differ), and the steps that showed the fault."""
    for trial in range(examples(quick=2, ci=2, full=3)):
        random = Random(trial)
        ready = made(found, random)
        yield from ways(ready, TARGET, random, Counter(), f"f{number}_{trial}")
        if trial == 0:
            yield from the_ways_it_showed(f"f{number}", found, ready)


def the_ways_it_showed(prefix: str, found: Found, ready: Problem) -> Iterator[Way]:
    """The steps that were at fault, and each fusion of isl's scheduler."""
    for sizes in (ready.sizes, ready.scalars):
        naive = wb.schedule(ready.op, sizes=sizes)
        trees = {fusion: from_isl(naive.program, fusion, Counter()) for fusion in FUSIONS}
        steps = {fusion: wb.affine(tree, fusion) for fusion, tree in trees.items() if tree is not None}
        if found.steps:
            steps["steps"] = eval(found.steps, {"__builtins__": {}}, PUBLIC)
        for name, step in steps.items():
            kernel = written(f"{prefix}_{name}{len(sizes)}", applied(naive, step), TARGET, unchecked=False)
            yield Way(name, ready, kernel, {})


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_stays_found(name, compilers, tmp_path: Path):
    kernels = list(distinct(every_way(list(FOUND).index(name), FOUND[name])))
    tally, first = Tally(), sorted(compilers)[0]
    Batch(kernels, [Compiler(compilers[first])], tmp_path / "found").start().finish(tally)
    assert kernels
    assert not tally.failures, str(tally.failures[0])
