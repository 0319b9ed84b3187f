"""What each line of a text is about comes from the nest; the text itself is the other way to know it."""

from __future__ import annotations

import re

import pytest

import workbench as wb
from tests.gpu_schedules import HAND_MADE
from tests.recipe_kernels import PAIRS, recipe_schedule
from tests.small_sizes import MACHINE, small_schedule
from workbench.codegen.kernel import Kernel, Origin
from workbench.poly.programs.tree import loops

SAID = {
    **{f"C of {name}": lambda name=name: wb.generate(small_schedule(name), MACHINE) for name in wb.ops.list()[::4]},
    **{f"CUDA of {name}": lambda name=name: wb.generate(recipe_schedule(name), "h200") for name in PAIRS},
    **{f"CUDA of {name}": lambda name=name: wb.generate(HAND_MADE[name](), "cuda") for name in HAND_MADE},
}


def told(kernel: Kernel) -> list[tuple[str, Origin]]:
    lines = kernel.source.rstrip("\n").split("\n")[kernel.start :]
    return list(zip(lines, kernel.origins, strict=True))


@pytest.mark.parametrize("name", SAID)
def test_lines_know_their_statements_and_loops(name):
    kernel = SAID[name]()
    schedule = kernel.schedule
    assert isinstance(schedule, wb.Schedule)
    ids = {s.name: s.id for s in schedule.program.statements}
    names, found = {loop.name for loop in loops(schedule.tree)}, set()
    for line, origin in told(kernel):
        found |= {*origin.statements}
        if (about := re.search(r"/\* ([\w.]+): ", line)) and about[1] in ids:
            assert origin.statements == (ids[about[1]],), line
        if head := re.search(r"\bfor \(int64_t (\w+) = |const int64_t (\w+) = [^;]*(?:block|thread)Idx", line):
            variable = head[1] or head[2]
            assert origin.loop == variable or re.sub(r"_\d+$", "", variable) == origin.loop or variable not in names
            # What fills registers that several statements share belongs to none of them.
            assert not origin.loop or origin.statements or "WB_UNROLL" in line, line
        if line.strip() == "return 0;":
            assert origin == Origin()
    assert found == set(ids.values())


def test_a_block_belongs_to_all_that_it_executes_and_a_copy_to_its_statement():
    """A comment stands where a statement is first executed only; the lines of a rest know it all the same."""
    kernel = wb.generate(small_schedule("matmul"), MACHINE)
    lines = told(kernel)
    whole = next(o for line, o in lines if line.strip().startswith("for (int64_t m"))
    assert {*whole.statements} == {"C.init", "C"} or len(whole.statements) == 2
    assert sum("/* C: " in line for line, _ in lines) == 1
    assert sum("+=" in line and len(o.statements) == 1 for line, o in lines) > 1
