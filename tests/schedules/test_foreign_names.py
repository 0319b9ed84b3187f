"""Names of steps from Halide, TVM, Exo, Triton, MLIR and CUDA are answered with what to type here."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.errors import ScheduleError, UnknownName
from workbench.schedules.foreign_names import NAMES, known_as
from workbench.schedules.transform import from_json

ASKED = (
    "cache_read", "cache_write", "rfactor", "compute_inline", "compute_root", "fission", "fuse_at", "collapse",
    "reorder_axes", "set_scope", "store_at", "hoist", "blockize", "tensorize", "unroll_and_jam", "peel", "strip_mine",
    "index_set_split", "double_buffer_at", "prefetch_at", "vectorise",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_names_what_there_is(name):
    ours, difference = NAMES[name]
    assert name not in wb.__all__
    assert ours
    assert set(ours) <= set(wb.__all__)
    assert difference
    assert len(difference.split()) <= 14


@pytest.mark.parametrize("name", ASKED)
def test_a_name_of_the_workbench_is_answered(name):
    with pytest.raises(UnknownName) as error:
        getattr(wb, name)
    assert str(error.value) == f"workbench: {known_as(name)}"
    assert f"is {NAMES[name][0][0]}" in str(error.value)


@pytest.mark.parametrize("name", ASKED)
def test_a_recorded_step_is_answered(name):
    with pytest.raises(ScheduleError, match=f"'{name}' is {NAMES[name][0][0]}"):
        from_json({"step": name, "loop": "k"})


def test_next_steps_and_sketches_answer_too():
    naive = wb.schedule(wb.ops.matmul, M=8, N=8, K=8)
    with pytest.raises(ScheduleError, match="'rfactor' is split_reduction here"):
        wb.next_steps(naive, only="rfactor")
    text = (naive | wb.tile(m=wb.choose(2, 4))).to_json().replace('"open": "tile"', '"open": "strip_mine"')
    with pytest.raises(ScheduleError, match="'strip_mine' is split here"):
        wb.Sketch.from_json(wb.ops.matmul, text)


def test_other_names_are_answered_with_the_known_ones():
    with pytest.raises(UnknownName, match=r"unknown name 'tiel'; did you mean 'tile'\? known: "):
        getattr(wb, "tiel")  # noqa: B009
    assert known_as(None) is None
