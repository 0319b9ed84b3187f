"""`wb.plan_memory(model, bounds=...)`: one plan, which the judge accepts at all sizes within the bounds."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.graph.fusion.networks import network
from tests.graph.passes.test_random_networks import random_network
from tests.support import examples
from workbench.errors import CallError, ModelError, WorkbenchError
from workbench.graph.memory import MemoryPlan, SymbolicMemoryPlan, faults
from workbench.graph.running.memory_plans import Storage
from workbench.graph.running.specimens import recording_of

ODD = """
def linear<T>(T(M,K) x, T(N,K) w) -> (y) { y(m,n) +=! x(m,k) * w(n,k) }
def flat(float(B,T,E) x) -> (float(B*T,E) y) { y(r,e) = x(r/T,r%T,e) }
def turned(float(M,N) x) -> (y) { y(j,i) = x(i,j) }
def halves(float(M,2*N) x) -> (float(M,N) y, float(M,N) z) {
    y(m,n) = x(m,n) where n in 0:N
    z(m,n) = x(m,n+N) where n in 0:N
}
fn twice(x: float32[m, n], w: float32[n, n]) -> float32[m, n] { linear(linear(x, w), w) }
fn main(x: float32[batch, t, 8], w: float32[8, 8]) {
    let (y, z) = halves(twice(flat(x), w));
    (softmax(y), turned(z), y)
}
"""


def holds(model: wb.Model, found: MemoryPlan | SymbolicMemoryPlan, sizes: dict[str, int]) -> None:
    assert isinstance(found, SymbolicMemoryPlan)
    at = found.at(sizes)
    own = Storage(recording_of(wb.passes.inline().apply(model), sizes)).lifetimes("result")
    assert faults(at) == []
    assert {b.name: b.size for b in at.lifetimes.buffers} == {b.name: b.size for b in own.buffers}
    views = {s.output for step in own.steps for s in step.sharing("view")}
    if views == {s.output for step in at.lifetimes.steps for s in step.sharing("view")}:  # others at rows of one cell
        assert {b.name: b for b in at.lifetimes.buffers} == {b.name: b for b in own.buffers}
    assert {(s.name, s.reads, s.writes) for s in at.lifetimes.steps} == {(s.name, s.reads, s.writes) for s in own.steps}
    assert at.bytes <= found.most_bytes


@pytest.mark.parametrize("which", ["odd", "fused"])
def test_one_plan_holds_for_all_sizes_within_the_bounds(which):
    model = wb.model(ODD)
    if which == "fused":
        model = wb.graph.fused(wb.passes.inline().apply(model)).model
    found = wb.plan_memory(model, bounds={"batch": (1, 64), "t": (1, 40)})
    for batch, t in ((1, 1), (64, 40), (1, 40), (7, 3), (13, 31), (32, 2)):
        holds(model, found, {"batch": batch, "t": t})


@pytest.mark.parametrize("seed", range(examples(quick=3, ci=10, full=200)))
def test_plans_of_random_networks_hold(seed):
    model = random_network(seed)
    found = wb.plan_memory(model, bounds={"n": (1, 300)}, seconds=0.05)
    for size in (1, 2, 17, 150, 300):
        holds(model, found, {"n": size})


def test_a_plan_for_all_sizes_is_nearly_as_small_as_one_for_each():
    model = network("mlp")
    found = wb.plan_memory(model, bounds={"n": (1, 64)})
    for n in (1, 8, 33, 64):
        assert found.at({"n": n}).bytes <= 1.1 * wb.plan_memory(model, {"n": n}).bytes


def test_a_result_that_is_a_view_at_some_sizes_only_has_bytes_of_its_own():
    text = "def turned(float(M,N) x) -> (y) { y(j,i) = x(i,j) }\nfn main(x: float32[n, m]) { turned(softmax(x)) }"
    for bounds in ({"n": (1, 4), "m": (1, 4)}, {"n": (1, 1), "m": (1, 4)}):
        found = wb.plan_memory(wb.model(text), bounds=bounds)
        assert isinstance(found, SymbolicMemoryPlan)
        own = {b.name for b in found.lifetimes.buffers if b.place == "result"}
        assert own == ({"turned"} if bounds["n"] == (1, 4) else {"softmax"})


def test_some_sizes_may_be_fixed():
    model = wb.model(ODD)
    found = wb.plan_memory(model, {"t": 5}, bounds={"batch": (0, 9)})
    holds(model, found, {"batch": 4, "t": 5})
    with pytest.raises(WorkbenchError, match=r"batch=10 is out of its bounds 0 to 9"):
        found.at({"batch": 10, "t": 5})


def test_bounds_that_are_none_are_refused():
    model = wb.model(ODD)
    with pytest.raises(CallError, match=r"t has no bounds; give them: bounds=dict\(t=\(1, 64\)\)"):
        wb.plan_memory(model, bounds={"batch": (1, 4)})
    with pytest.raises(CallError, match="unknown dimension 'b'"):
        wb.plan_memory(model, bounds={"b": (1, 4)})
    with pytest.raises(CallError, match="batch has 4; expected its least and its greatest size"):
        wb.plan_memory(model, bounds={"batch": 4, "t": (1, 2)})
    flow = wb.model("fn main(c: bool, x: float32[n]) { if c { softplus(x) } else { x } }")
    with pytest.raises(ModelError, match="control flow"):
        wb.plan_memory(flow, bounds={"n": (1, 4)})
    assert np.isfinite(wb.plan_memory(model, {"batch": 2, "t": 2}).bytes)
