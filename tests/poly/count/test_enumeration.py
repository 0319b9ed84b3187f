"""Instances and dependences one by one, against plain enumeration."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench import poly
from workbench.errors import WorkbenchError
from workbench.poly.sets import isl, unpack

SEIDEL = """
def seidel(float(N) X, int32 T) -> (A) {
    A(i) = X(i)
    for t in 0:T { A(i) = A(i-1) + A(i+1) where i in 1:N-1 }
}"""


@pytest.fixture
def matmul():
    return wb.lower(wb.ops.matmul)


def test_instances_are_all_and_in_order(matmul):
    found = poly.instances_at(matmul, "S1", {"M": 2, "N": 1, "K": 3})
    assert found == ((0, 0, 0), (0, 0, 1), (0, 0, 2), (1, 0, 0), (1, 0, 1), (1, 0, 2))


def test_a_triangle():
    program = wb.lower(wb.ops.trmm, M=3, N=1)
    assert poly.instances_at(program, "S1", {}, keep=("m", "k")) == ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2))


def test_what_is_not_kept_is_projected_away(matmul):
    assert poly.instances_at(matmul, "S1", {"M": 2, "N": 9, "K": 2}, keep=("m",)) == ((0,), (1,))


def test_a_window_keeps_the_first_values():
    program = wb.lower(wb.operator(SEIDEL), N=1000, T=1000)
    assert poly.instances_at(program, "S1", {}, window=2) == ((0, 1), (0, 2), (1, 1), (1, 2))


def test_an_empty_domain_has_no_instances(matmul):
    assert poly.instances_at(matmul, "S1", {"M": 0, "N": 3, "K": 3}, window=3) == ()


def test_a_missing_size_is_named(matmul):
    with pytest.raises(WorkbenchError, match=r"a value for (N, K|K, N)"):
        poly.instances_at(matmul, "S1", {"M": 2})


def test_too_many_points_are_refused(matmul):
    with pytest.raises(WorkbenchError, match="points"):
        poly.instances_at(matmul, "S1", {"M": 100, "N": 100, "K": 100}, limit=1000)


def test_contributions_form_a_chain(matmul):
    pairs = {p.dependence.kind: p.pairs for p in poly.dependence_pairs(matmul, {"M": 1, "N": 1, "K": 4})}
    assert pairs["reduction"] == tuple(((0, 0, k), (0, 0, k + 1)) for k in range(3))
    assert pairs["flow"] == (((0, 0), (0, 0, 0)),)


@pytest.mark.parametrize(
    ("op", "sizes"),
    [
        (wb.ops.matmul, {"M": 2, "N": 2, "K": 3}),
        (wb.ops.jacobi_1d, {"N": 6, "steps": 3}),
        (wb.ops.seidel_2d, {"N": 4, "M": 4, "steps": 2}),
        (wb.ops.cumsum, {"M": 2, "N": 5}),
        (wb.ops.causal_attention, {"B": 1, "N": 3, "D": 2, "E": 2}),
    ],
    ids=lambda v: getattr(v, "name", ""),
)
def test_nothing_is_left_out_that_the_rest_does_not_imply(op, sizes):
    program = wb.lower(op, sizes)
    arrows = {}
    for found in poly.dependence_pairs(program, {}):
        d = found.dependence
        for source, target in found.pairs:
            arrows.setdefault((d.source, source), set()).add((d.target, target))
    for d in poly.dependences(program):
        for source, target in _all_pairs(program, d):
            assert _reaches(arrows, (d.source, source), (d.target, target)), (d.kind, source, target)


def _all_pairs(program, dependence):
    """Every pair of a dependence at bound sizes, by asking isl nothing but membership."""
    relation = isl.parse_map(dependence.relation).intersect_params(isl.parse_set(program.context))
    length = relation.dim(isl.dim.in_)
    flat = relation.wrap().flatten()
    flat = flat.project_out(isl.dim.param, 0, flat.dim(isl.dim.param))
    return [(p[:length], p[length:]) for p in unpack.points(flat)]


def _reaches(arrows, start, goal):
    pending, seen = [start], set()
    while pending:
        here = pending.pop()
        for there in arrows.get(here, ()):
            if there == goal:
                return True
            if there not in seen:
                seen.add(there)
                pending.append(there)
    return False


def test_moving_dims():
    program = wb.lower(wb.operator(SEIDEL))
    moves = {(d.kind, d.source, d.target): poly.moving_dims(program, d) for d in poly.dependences(program)}
    assert moves["flow", "S1", "S1"] == ("t", "i")
    assert moves["output", "S1", "S1"] == ("t",)


def test_relation_text(matmul):
    texts = {d.kind: poly.relation_text(matmul, d) for d in poly.dependences(matmul)}
    assert texts == {
        "flow": "S0[m, n] -> S1[m, n, k]",
        "output": "S0[m, n] -> S1[m, n, k]",
        "reduction": "S1[m, n, k] -> S1[m, n, k'] : k' > k",
    }
