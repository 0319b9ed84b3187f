"""Sources found level by level are those that isl's flow analysis finds."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.support import examples
from workbench.errors import WorkbenchError
from workbench.poly.dependence import value_sources
from workbench.poly.dependence.value_sources import Flow
from workbench.poly.programs.program import Program
from workbench.poly.sets import isl, unpack
from workbench.schedules import Schedule, Transform

KINDS = ("stage", "split_reduction", "isolate", "compute_at", "inline", "partition", "pipeline")


def disagreements(program: Program, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Sinks whose sources differ between the quick way and isl's."""
    arrays = frozenset(program.arrays)
    quick = Flow(program, arrays, frozenset()).flow
    with monkeypatch.context() as patch:
        patch.setattr(value_sources, "nothing_is_lost", lambda *_: False)
        patch.setattr(value_sources, "nearest", lambda *_: None)
        slow = Flow(program, arrays, frozenset()).flow
    assert quick.keys() == slow.keys()
    return [sink for sink in quick if not quick[sink].is_equal(slow[sink])]


def derived(start: Schedule, count: int) -> list[Schedule]:
    """The schedule after the first few instance and storage steps that fit, each also on tiles."""
    found = []
    for kind in KINDS:
        for step in list(Transform.known[kind].choices(start))[:count]:
            try:
                found.append(wb.preview(start, step))
            except WorkbenchError:
                continue
    return found


@pytest.mark.parametrize(
    "name", ["matmul", "softmax", "trmm", "cholesky", "cumsum", "histogram", "linear_recurrence", "seidel_2d", "lu"]
)
def test_sources_found_level_by_level_are_those_of_the_flow_analysis(name: str, monkeypatch: pytest.MonkeyPatch):
    start = wb.schedule(wb.ops.load(name))
    with isl.session("test"):
        assert disagreements(start.program, monkeypatch) == []
        for schedule in derived(start, examples(quick=1, ci=1, full=4)):
            assert disagreements(schedule.program, monkeypatch) == [], schedule.steps()


def test_sources_on_tiles_with_buffers(monkeypatch: pytest.MonkeyPatch):
    tiles = wb.schedule(wb.ops.load("matmul")) | wb.decompose_reduction("C") | wb.tile({"C/m": 8, "C/n": 8, "C/k": 4})
    start = tiles | wb.stage("A", "k_o") | wb.stage("C", "n_o")
    with isl.session("test"):
        for schedule in [start, *derived(start, examples(quick=1, ci=2, full=6))]:
            assert disagreements(schedule.program, monkeypatch) == [], schedule.steps()


def test_a_write_that_is_overwritten_is_no_source():
    text = "def twice(float(N) A) -> (O) {\n T(i) = A(i)\n T(i) = T(i) + 1.0\n O(i) = T(i) }"
    program = wb.schedule(wb.operator(text)).program
    flow = Flow(program, frozenset(program.arrays), frozenset())
    last = next(x for x in flow.sinks if x.statement is not None and x.array == "T" and x.statement.id == "S2")
    with isl.session("test"):
        assert {m.get_tuple_name(isl.dim.out) for m in unpack.maps(flow.of(last))} == {"S1"}
