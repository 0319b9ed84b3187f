"""The engines that come along, on every operator of the library and on operators nobody planned for."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import workbench as wb
from tests.graph.engines.library_regions import one_call
from tests.support import examples
from workbench.errors import EngineError
from workbench.graph.engines.engine_records import engine_named
from workbench.graph.engines.region_calls import checked_arrays, compare, several
from workbench.graph.engines.subgraphs import numbered_subgraph

# Engine → what has to be installed, every how manieth operator is tried in quick tests, and how many it takes of all.
ENGINES = {
    "json": ((), examples(quick=8, ci=3, full=1), 79),
    "c": ((), examples(quick=24, ci=12, full=1), 119),
    "torch": (("torch",), examples(quick=8, ci=3, full=1), 78),
    "onnxruntime": (("onnx", "onnxruntime"), examples(quick=12, ci=4, full=1), 114),
    "workbench": ((), examples(quick=60, ci=40, full=4), 0),
}


def engine_or_skip(name: str) -> wb.graph.engines.Engine:
    for package in ENGINES[name][0]:
        if find_spec(package) is None:
            pytest.skip(f"install {package}")
    return engine_named(name)


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_computes_what_the_oracle_does_or_says_why_it_cannot(name):
    engine = engine_or_skip(name)
    every, least = ENGINES[name][1:]
    names = wb.ops.catalogue.names()[::every]
    taken = 0
    for each in names:
        model, arrays = one_call(each)
        region = numbered_subgraph("region", model)
        refusal = engine.refusal(region.steps[0].site)
        if not refusal:
            compare(region, checked_arrays(region, engine.compile(region)(*arrays)), several(region.evaluate(*arrays)))
            taken += 1
    assert taken >= least if every == 1 else taken


ODD = wb.model("""
def odd(float(N,M) x, int32 k) -> (y, s) {
    y(i,j) = i + k < N && j > 0 ? x(i+k,j-1) * 2.0 : -1.0
    s(j) max=! y(i,j)
}
def blend(float(N,M) x, float(M) s, float t) -> (z) {
    z(i,j) = x(i,j) > s(j) ? t : fmax(x(i,j), s(j) - 0.5)
    z(i,j) = z(i,j) / (1.0 + abs(s(j)))
}
def spots(float(N,M) x) -> (z) { z(i) +=! x(i,2*j) * x(i,2*j+1) where j in 0:M/2 }
fn main(x: float32[n, m]) {
    %both = odd(x, k=2)
    %z = blend(%both.0, %both.1, 0.25)
    (%z, spots(%z), spots(const#0))
}
""", [np.arange(12, dtype="float32").reshape(3, 4)])


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("shape", [(5, 6), (1, 2), (2, 13)])
def test_operators_nobody_planned_for(name, shape):
    partition = wb.partition(ODD, [engine_or_skip(name)], by="rules", check=True, on_failure="raise", keep=False)
    x = np.random.default_rng(0).standard_normal(shape).astype("float32")
    assert sum(len(each.calls) for each in partition.regions.values()) == 4
    for found, wanted in zip(partition.evaluate(x), ODD.evaluate(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["json", "c", "torch", "onnxruntime"])
def test_what_is_not_taken_falls_back_with_its_reason(name):
    engine = engine_or_skip(name)
    model = wb.model("""
    def halved(bfloat16(N) x) -> (bfloat16(N) y) { y(i) = x(i) }
    fn main(x: float32[n], h: bfloat16[n]) { (softplus(x), halved(h)) }
    """)
    partition = wb.partition(model, [engine], by="rules", host="interpreter", keep=False)
    assert [each.call for each in partition.left] == ["halved(bfloat16[n])"]
    assert partition.left[0].reasons == {name: "elements of bfloat16"}
    x = np.ones(3, "float32")
    h = x.astype(wb.lang.dtypes.DTYPES["bfloat16"].numpy)
    np.testing.assert_allclose(partition.evaluate(x, h)[0], model.evaluate(x, h)[0], rtol=1e-5)


def test_what_the_definition_does_not_show_to_be_the_same_is_refused():
    engine = engine_named("json")
    for body, reason in [
        ("y(i) = x(N-1-i)", "a read backwards"),
        ("y(i) = x(i) where i in 0:N\n y(i) = y(i-1) + x(i) where i in 1:N", "instances that read what others write"),
        ("y(i) = 0.0 where i in 0:N\n y(2*i) = x(i) where i in 0:N/2", "cells that are written apart"),
        ("y(i) +=! x(j) where i in 0:N, j in 0:i", "a domain that is no box"),
    ]:
        op = wb.operator(f"def f(float(N) x) -> (y) {{ {body} }}")
        builder = wb.graph.Builder()
        model = builder.model(builder.call(op, builder.parameter("x", "float32[6]")))
        assert engine.refusal(numbered_subgraph("region", model).steps[0].site) == reason


def test_engines_for_frameworks_that_are_missing_say_what_to_install(monkeypatch):
    import workbench.graph.engines.engine_records as records

    monkeypatch.setitem(records.ENGINES, "elsewhere", "package_that_is_not_there:engine")
    with pytest.raises(EngineError, match="the engine 'elsewhere' needs the package package_that_is_not_there"):
        engine_named("elsewhere")
