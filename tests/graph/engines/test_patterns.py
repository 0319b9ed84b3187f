"""Patterns: which calls they cover, which come first, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import EngineError
from workbench.graph.engines.patterns import Matching, as_pattern, pattern
from workbench.graph.engines.regions.blocks import blocks_of
from workbench.graph.engines.regions.taking import taken
from workbench.graph.engines.same_definition import definition_key

MODEL = wb.model("""
def times(float(I,L) X, float(L,J) Y) -> (Z) { Z(i,j) +=! Y(l,j) * X(i,l) }
def plus(float(N,M) x, float(N,M) y) -> (z) { z(i,j) = x(i,j) + y(i,j) }
def clip(float(N,M) x) -> (y) { y(i,j) = max(x(i,j), 0.0) }
fn main(x: float32[n, 8], w: float32[8, 8]) {
    %a = matmul(x, w)
    %b = times(x, w)
    %c = plus(%a, clip(%b))
    %d = clip(times(%c, w))
    (clip(%c), plus(%d, x))
}
""")
MATMUL = wb.ops.load("matmul")


def covered(of: object) -> list[str]:
    """The names of the calls of each match, in the order of the model."""
    (block,) = blocks_of(MODEL.graph_form())
    matching = Matching(block.sites, block.uses)
    found = [matching.found(as_pattern(of), node) for node in block.nodes]
    return sorted(" ".join(block.sites[each].name for each in calls) for calls in found if calls is not None)


@pytest.mark.parametrize(
    ("of", "wanted"),
    [
        ("matmul", ["matmul"]),
        (MATMUL, ["matmul", "times", "times"]),
        (pattern("times", "matmul"), ["matmul", "times", "times"]),
        (as_pattern("times") | as_pattern("plus"), ["plus", "plus", "times", "times"]),
        (pattern(where=lambda site: site.name == "clip"), ["clip", "clip", "clip"]),
        (("clip", MATMUL), ["times clip", "times clip"]),
        (("clip", "matmul"), []),
        (("plus", "matmul"), ["matmul plus"]),
        (("plus", "clip", "times"), ["times clip plus", "times clip plus"]),
        (pattern("plus", arguments=["matmul", "clip"]), ["matmul clip plus"]),
        (pattern("plus", arguments=["clip", "matmul"]), []),
        (pattern("plus", arguments=["clip", "matmul"], anywhere=True), ["clip matmul plus"]),
        (pattern("plus", arguments=[None, "clip"]), ["clip plus"]),
        (pattern("plus", arguments=[pattern("matmul", optional=True)]), ["matmul plus", "plus"]),
        (pattern("plus", arguments=[pattern("matmul", where=lambda site: False)]), []),
        (("clip", "plus"), []),  # another call uses what plus gives
    ],
    ids=str,
)
def test_a_pattern_covers(of, wanted):
    assert covered(of) == wanted


def test_the_first_pattern_wins_and_what_it_covers_stays_together():
    @wb.engine("first", patterns=[("clip", MATMUL), MATMUL])
    def first(region):
        return region.evaluate

    (block,) = blocks_of(MODEL.graph_form())
    found = taken(block, first)
    assert sorted(text for _, text in found.atoms) == ["clip(like matmul)", "clip(like matmul)", "like matmul"]
    assert all("no pattern" in reason for reason in found.reasons.values())
    x, w = np.ones((3, 8), "float32"), np.eye(8, dtype="float32")
    partition = wb.partition(MODEL, [first], by="rules", host="interpreter", on_failure="raise")
    for one, other in zip(partition.evaluate(x, w), MODEL.evaluate(x, w), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_name_of_the_library_means_its_definition():
    model = wb.model("""
    def matmul(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }
    fn main(x: float32[n, 8], w: float32[8, 8]) { matmul(x, w) }
    """)
    engine = wb.engine("trusting", patterns=["matmul"])(lambda region: lambda a, b: a @ b)
    partition = wb.partition(model, [engine], by="rules", host="interpreter")
    assert not partition.regions
    assert partition.left[0].reasons == {"trusting": "no pattern of it fits"}


def test_a_predicate_gives_its_reason():
    @wb.engine("choosy", patterns=["matmul"], supports=lambda site: "float32" not in site.dtypes or "only float64")
    def choosy(region):
        return region.evaluate

    partition = wb.partition(MODEL, [choosy], by="rules", host="interpreter")
    assert not partition.regions
    assert "matmul(float32[n, 8], float32[8, 8]) (a): choosy: only float64" in str(partition)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("C(m,n) +=! A(m,k) * B(k,n)", "C(a,b) +=! B(c,b) * A(a,c)", True),
        ("C(m,n) +=! A(m,k) * B(k,n)", "C(m,n) +=! A(m,k) * B(n,k)", False),
        ("C(m,n) +=! A(m,k) * B(k,n)", "C(m,n) max=! A(m,k) * B(k,n)", False),
        ("C(m,n) = A(m,n) + B(m,n)", "C(i,j) = B(i,j) + A(i,j)", True),
        ("C(m,n) = A(m,n) - B(m,n)", "C(i,j) = B(i,j) - A(i,j)", False),
        ("C(m,n) = A(m,n) * 2.0 + B(m,n)", "C(m,n) = A(m,n) * 3.0 + B(m,n)", False),
        ("C(m,n) = max(A(m,n), B(m,n))", "C(m,n) = max(B(m,n), A(m,n))", True),
    ],
)
def test_definitions_are_the_same_up_to_renaming(one, other, alike):
    made = [wb.operator(f"def f{at}(float(M,K) A, float(K,N) B) -> (C) {{ {body} }}") if "k" in body or "c" in body
            else wb.operator(f"def f{at}(float(M,N) A, float(M,N) B) -> (C) {{ {body} }}")
            for at, body in enumerate((one, other))]  # fmt: skip
    assert (definition_key(made[0]) == definition_key(made[1])) is alike


def test_in_the_library_those_are_alike_that_compute_the_same_and_no_others():
    names = wb.ops.catalogue.names()
    keys: dict[str, list[str]] = {}
    for name in names:
        keys.setdefault(definition_key(wb.ops.load(name)), []).append(name)
    assert [each for each in keys.values() if len(each) > 1] == [["batched_matmul", "tbmm"], ["tmm", "c3"]]


def test_what_is_no_pattern_is_refused_with_words():
    with pytest.raises(EngineError, match="a pattern is a name, an operator, a tuple of them or pattern"):
        wb.engine("odd", patterns=[3])
