"""Gradients where something is empty, infinite, or no cell: what random operators found, made small."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.lang.derived.differences import Point, complaints


def at(text: str, *arguments, **sizes: int) -> Point:
    return Point(wb.operator(text), list(arguments), {}, sizes)


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def gradients(point: Point) -> dict[str, np.ndarray]:
    return point.gradient({name: np.ones_like(value) for name, value in point.outputs().items()})


def test_a_reduction_that_has_no_instances_passes_nothing_on():
    point = at("def f(double(N) x) -> (y) { y(i,l) max=! x(i) where i in 0:N, l in 0:1, q in 0:l }", drawn(3))
    np.testing.assert_array_equal(gradients(point)["x"], np.zeros(3))
    kept = at("def f(double(N) x) -> (y) { y(i) = x(i)  y(i) += x(i) where i in 0:N, l in 0:1, q in 0:l }", drawn(3))
    np.testing.assert_array_equal(gradients(kept)["x"], np.ones(3))
    text = "def f(double(N) x) -> (double(N,1,0) y, z) { y(i,j,k) = x(j) where j in 0:1, k in 0:j  z(i) = x(i) }"
    np.testing.assert_array_equal(gradients(at(text, drawn(3)))["x"], np.ones(3))


def test_at_its_corner_the_absolute_value_passes_on_nothing_infinite():
    point = at("def f(double(N) x) -> (y) { y(i) = sqrt(abs(x(i))) }", np.array([0.0, 4.0, -4.0]))
    np.testing.assert_array_equal(gradients(point)["x"], [0, 0.25, -0.25])


@pytest.mark.parametrize("size", [0, 3])
def test_a_sum_of_nothing_times_the_extremum_of_nothing_is_nothing(size):
    point = at("def f(double(K) x, double a) -> (z) { top max=! x(k)  z(k) = a * top + x(k) }", drawn(size), 2.0)
    assert complaints(point) == []
    assert np.isfinite(gradients(point)["a"])


@pytest.mark.parametrize("size", [1, 4, 5])
def test_a_factor_is_read_only_where_its_sum_has_terms(size):
    text = """
    def f(double(1,M) A, double(M,M+1) B) -> (T) {
        T(j,l) +=! A((q + q) / 2, j) * B(j, j+q) where j in 0:M, l in 0:2, q in 0:l
    }"""
    assert complaints(at(text, drawn(1, size), drawn(size, size + 1))) == []


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_condition_is_read_only_where_its_sum_has_terms(size):
    text = """
    def f(double(N + 1) x, double(N) w, double bound) -> (y) {
        T(k) = x(k / 2) where k in 0:2*N
        y(r, i) +=! w(i) > bound ? T(i) : 1 where r in 0:N, i in 0:r
    }"""
    assert complaints(at(text, drawn(size + 1), drawn(size), -0.2)) == []


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_halved_index_beside_a_stride(size):
    text = """
    def f(double(K+1, 2, 4*K+1) x) -> (y) {
        y(j,k) +=! x((q + k) / 2, q, 3*j + k) where j in 0:K, k in 0:K, q in 0:2
    }"""
    assert complaints(at(text, drawn(size + 1, 2, 4 * size + 1))) == []


@pytest.mark.parametrize("size", [0, 1, 4])
def test_a_cell_that_is_there_for_some_sizes_only(size):
    point = at("def f(double(K) x, double a) -> (y) { y = a + (K >= 1 ? x(0) * x(0) : 0) }", drawn(size), 1.5)
    assert gradients(point)["x"].shape == (size,)
    assert complaints(point) == []


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_diagonal_of_cells_that_are_there_for_some_sizes_only(size):
    text = """
    def f(double(L-1, 2*L) x, double(L) z) -> (y) {
        y(r) = r <= L - 2 && 2*r <= 2*L - 1 ? x(r, 2*r) * z(r) : 0 where r in 0:4
    }"""
    x, z = drawn(size - 1, 2 * size), drawn(size)
    point = at(text, x, z)
    assert gradients(point)["x"].shape == x.shape
    assert complaints(point) == []


def test_the_gradient_of_an_empty_input_is_empty():
    gradient = wb.grad(wb.ops.load("pixel_shuffle").astype("double"))
    empty = np.ones((1, 1, 2, 2, 0, 3))
    assert wb.lang.evaluate(gradient, empty, np.ones((1, 1, 0, 6))).shape == empty.shape


def test_a_cell_that_is_none_for_all_sizes():
    text = "def f(double(K) x, double a) -> (y) { z(i,j) = a * x(i) where j in 0:1  y = K < 0 && 2 < 1 ? z(0,2) : a }"
    point = at(text, drawn(3), 2.0)
    assert complaints(point) == []


def test_a_plane_that_is_read_in_part_is_not_filled_by_that():
    text = """
    def f(double(K) x, double(K) w) -> (y, v) {
        z(i,j) = w(i) * x(i) where j in 0:2
        y(i) = z(i+1,0) where i in 0:K-1
        v(i) = z(i,1) where i in 0:K-1
    }"""
    point = at(text, drawn(4), drawn(4))
    assert complaints(point) == []
    assert "d_z(i, j) = double(0.0)" in wb.grad(point.op).text


def test_no_number_is_right_only_where_something_inside_is_infinite():
    text = "def f(double(N) x, double(M) z) -> (y) { top max=! z(j)  part(i) = x(i) * top  y(i) = min(part(i), 0) }"
    ones = {"y": np.ones(2)}
    assert at(text, np.ones(2), np.ones(0)).is_infinite_inside(ones)
    assert not at(text, np.ones(2), np.ones(1)).is_infinite_inside(ones)


def test_a_gather_below_a_corner_needs_no_type_from_the_reader():
    text = """
    def f(double(N+1,1,1) x, int32(N+1,N+1) at) -> (y) {
        y(j,k) = fmax(x(k, 0, at(j,j)), double(j)) where j in 0:N, k in j:j+2
    }"""
    point = at(text, drawn(2, 1, 1), np.zeros((2, 2), np.int32))
    assert complaints(point) == []


def test_a_guarded_gather_of_nothing_writes_nothing():
    text = "def f(double(N) x, int32(M) at) -> (y) { y(i) = at(i) >= 0 ? x(at(i)) : 0 }"
    point = at(text, drawn(0), np.full(3, -1, np.int32))
    assert gradients(point)["x"].shape == (0,)


def test_a_guarded_gather_by_unsigned_numbers_into_cells_that_begin_below_0():
    text = """
    def f(uint8(N) at, double(N) x) -> (y) {
        z(i) = x(i + 1) * 2 where i in -1:N-1
        y(j) = x(j) > 0 ? z(at(j)) : 0
    }"""
    point = at(text, np.array([0, 1, 1, 0], np.uint8), np.array([1.0, -2.0, 3.0, -1.0]))
    assert complaints(point) == []


def test_a_result_that_is_scattered_into_inside_loops_of_many_ranges_keeps_its_shape():
    text = """
    monoid span(double lo, double hi) { identity (inf, -inf) combine (a, b), (c, d) -> (min(a, c), max(b, d)) }
    def f(double(M+2) z, double(7) w, double(2,4) x) -> (low, high) {
        (low(j), high(j)) span=! (x(j % 2, j) * z(k), w(l + j)) where k in j+1:M, l in 0:j+1
    }"""
    point = at(text, drawn(8), drawn(7), drawn(2, 4))
    assert gradients(point)["x"].shape == (2, 4)
    assert complaints(point) == []


def test_a_window_over_a_temporary_may_be_padded():
    text = """
    def f(double(N) x, double(2*N+3) w) -> (y) {
        z(i) = x(i) * x(i)
        y +=! (m >= 1 && m <= N - 1 ? z(m) : 1) * w(2*l + 2*m) where l in 0:3, m in 0:N
    }"""
    assert complaints(at(text, drawn(5), drawn(13))) == []


def test_what_has_no_cells_for_any_sizes_has_no_gradient():
    op = wb.operator("def f(double(N) x, double(N,0) y) -> (z) { z(i) = 2 * x(i) where exists y(i,0) }")
    assert wb.grad(op).outputs == ("d_x",)
    with pytest.raises(wb.errors.OperatorError, match="no gradient by 'y', which has no cells for any sizes"):
        wb.grad(op, "y")
