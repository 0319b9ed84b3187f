"""The memory of a kernel beside its arguments: local arrays that are never there together have the same places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench import poly
from workbench.codegen.c.workspace import Workspace, workspace_of
from workbench.codegen.nest.nest import Block, For, Nest, Place
from workbench.lang.algebra.normal_form import constant
from workbench.lang.dtypes import FLOAT32, INT64
from workbench.lang.expr import Const, Expr, Size
from workbench.poly.programs.program import Array
from workbench.target import Target

# Nobody planned for it: three sums that share operands, one of them down the columns, and rows of products between.
INVENTED = """def crossed(float(M,K) A, float(N,K) B, float(M,N) R) -> (P, S, Q, T) {
    P(m, n) +=! A(m, k) * B(n, k)
    S(m, n) = tanh(P(m, n)) * R(m, n)
    Q(n, k) +=! S(m, n) * A(m, k)
    T(m, k) +=! S(m, n) * B(n, k)
}"""


def local(name: str, extent: Expr) -> Array:
    return Array(name, FLOAT32, (Const(0, INT64),), (extent,), (Const(1, INT64),), "temporary", scope="local")


def around(*parts: Nest) -> Nest:
    return For("i", "i", Const(0, INT64), Const(4, INT64), Block(parts), kind="parallel")


def placed(sizes: dict[str, Expr], nest: Nest) -> Workspace:
    program = poly.lower(wb.operator("def f(float(N) x) -> (y) { y(i) = x(i) }"))
    arrays = {**program.arrays, **{name: local(name, extent) for name, extent in sizes.items()}}
    return workspace_of(replace(program, arrays=arrays), nest, "openmp", 0)


def leaf() -> Nest:
    return Block(())


def test_one_inside_another_stands_behind_it_and_one_beside_it_in_its_place():
    sizes: dict[str, Expr] = {name: Const(16 * n, INT64) for name, n in (("a", 1), ("b", 2), ("c", 3), ("d", 8))}
    nest = Block((around(Place("a", Block((Place("b", leaf()), Place("c", leaf()))))), around(Place("d", leaf()))))
    space = placed(sizes, nest)
    assert {name: constant(at) for name, at in space.own.items()} == {"a": 0, "b": 64, "c": 64, "d": 0}
    assert constant(space.own_bytes) == 16 * 8 * 4


def test_arrays_that_are_around_one_another_in_turn_never_overlap():
    sizes: dict[str, Expr] = {name: Const(16, INT64) for name in "ab"}
    nest = Block((around(Place("a", Place("b", leaf()))), around(Place("b", Place("a", leaf())))))
    assert {constant(at) for at in placed(sizes, nest).own.values()} == {0, 64}


def test_sizes_may_be_symbols():
    sizes: dict[str, Expr] = {"a": Size("N"), "b": Const(64, INT64)}
    space = placed(sizes, Block((around(Place("a", leaf())), around(Place("b", leaf())))))
    assert [constant(at) for at in space.own.values()] == [0, 0]
    assert "max" in str(space.own_bytes)


@pytest.mark.parametrize("threads", [1, 2])
def test_kernels_that_share_places_compute_what_the_definition_says(threads):
    op, sizes = wb.operator(INVENTED), {"M": 130, "N": 400, "K": 300}
    with wb.settings(threads=threads):
        kernel = wb.build(wb.autoschedule(op, Target(cores=2), sizes=sizes))
    given = wb.ops.sample_arrays(op, **sizes)
    for found, wanted in zip(kernel(*given), op.evaluate(*given), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-3)
    places = [line for line in kernel.source.splitlines() if "_local" in line and "(char *)workspace" in line]
    assert len(places) > len({line.partition("=")[2] for line in places})
