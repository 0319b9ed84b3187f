"""A step is registered by its file alone."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from importlib import import_module
from shutil import copytree, ignore_patterns

import pytest

import workbench as wb
from tests.support import PACKAGE, ROOT
from workbench import face
from workbench.face import STEPS, class_of
from workbench.lang.operator import Operator
from workbench.schedules import Transform, steps

sys.path.insert(0, str(ROOT / "tools"))
import stubs

NEW = '''
"""`mirror`: the iterations of a loop run in the opposite order."""

from __future__ import annotations

from typing import ClassVar

from workbench.records import record
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.choices import takes_choices
from workbench.schedules.steps.order.reverse import Reverse
from workbench.schedules.transform import Transform


@record
class Mirror(Transform):
    """Execute the iterations of a loop in the opposite order."""

    name: ClassVar[str] = "mirror"
    loop: str

    def apply(self, schedule: Schedule) -> Schedule:
        return schedule.with_tree(Reverse(self.loop).apply(schedule).tree, self)

    @classmethod
    def choices(cls, schedule):
        yield from (cls(step.loop) for step in Reverse.choices(schedule))

    def __str__(self) -> str:
        return f"mirror({self.loop!r})"


@takes_choices
def mirror(loop: str, /) -> Mirror:
    """Execute the iterations of `loop` in the opposite order."""
    return Mirror(loop)
'''
USED = """
import numpy as np

import workbench as wb
from workbench.schedules import Transform

assert "mirror" in dir(wb) and "mirror" in wb.__all__ and "mirror" in wb.schedules.__all__
assert "workbench.schedules.steps.order.tile" not in __import__("sys").modules
double = wb.operator("def double(float(N) A) -> (B) { B(i) = 2 * A(i) }")
naive = wb.schedule(double, N=5)
mirrored = naive | wb.mirror("i")
assert Transform.known["mirror"] is wb.schedules.steps.Mirror
assert wb.Schedule.from_json(double, mirrored.to_json()) == mirrored
assert eval(mirrored.python(), {"naive": naive, "mirror": wb.mirror}) == mirrored
assert [str(step) for step in wb.next_steps(naive, only=["mirror"]).legal] == ["mirror('i')"]
assert (naive | wb.mirror(wb.choose("i", "j"))).space.size == 2
print(wb.build(mirrored)(np.arange(5, dtype="float32")).tolist())
"""


# `wb.partition` takes a model and its engines as well; it hands loops on to the step.
OF_MODELS_TOO = ("partition",)


@pytest.mark.parametrize("step", STEPS)
def test_a_file_holds_the_step_and_the_function_of_its_name(step):
    module = import_module(f"workbench.schedules.steps.{STEPS[step]}")
    assert vars(module)[class_of(step)] is Transform.known[step] is getattr(steps, class_of(step))
    assert vars(module)[step] is getattr(wb.schedules, step)
    assert getattr(wb, step) is vars(module)[step] or step in OF_MODELS_TOO
    assert inspect.getdoc(getattr(wb, step))


def test_every_known_step_is_named_by_a_file_or_made_by_one_that_is():
    assert set(Transform.known) - set(STEPS) == {"affine_rows"}  # `affine` makes it of maps


def test_a_new_file_is_a_new_step_everywhere(tmp_path):
    copytree(PACKAGE, tmp_path / "workbench", ignore=ignore_patterns("__pycache__", "labextension", "*.pyi"))
    (tmp_path / "workbench" / "schedules" / "steps" / "order" / "mirror.py").write_text(NEW, encoding="utf-8")
    command = [sys.executable, "-c", USED]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert run.stdout == "[0.0, 2.0, 4.0, 6.0, 8.0]\n", run.stderr


@pytest.mark.parametrize("package", stubs.PACKAGES)
def test_type_checkers_read_what_there_is(package):
    """Write them anew with `python tools/stubs.py`."""
    assert stubs.path_of(package).read_text(encoding="utf-8") == stubs.stub(package)


def test_type_checkers_read_the_methods_that_later_rooms_give():
    text = inspect.getsource(Operator)
    assert [name for name in (*face.METHODS, "sizes", "examples") if f"def {name}(self" not in text] == []
