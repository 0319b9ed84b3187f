"""Counts against enumeration and against formulas."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.poly import brute
from tests.poly.making import (
    Maker,
    add,
    calc,
    conv,
    lift,
    matmul,
    mul,
    op,
    read,
    select,
    span,
    statement,
    tensor,
)
from tests.support import examples
from workbench import poly
from workbench.errors import BudgetExceeded, LoweringError, WorkbenchError
from workbench.lang.dtypes import FLOAT32, INT32
from workbench.lang.expr import Call, Read, Unary
from workbench.poly import flops, footprint, lower, out_of_bounds, points
from workbench.poly.sets import isl, unpack


def test_random_programs_agree_with_enumeration():
    for seed in range(examples(quick=10, ci=40, full=400)):
        made, sizes = Maker(seed).operator(), {"N": 4, "M": 3}
        program = lower(made, sizes)
        run = brute.events(made, sizes)
        for s in program.statements:
            assert points(program, s.id) == sum(e.key[0] == s.name for e in run)
        for array in program.arrays:
            written = {c for e in run for c in e.writes if c[0] == array}
            assert footprint(program, array, kind="write") == len(written)
            read_ = {c for e in run for c in e.reads | (e.writes if e.update else set()) if c[0] == array}
            assert footprint(program, array, kind="read") == len(read_)


def test_a_large_convolution_is_counted_by_formula():
    sizes = dict(N=8, C=64, H=58, W=58, K=64, R=3, S=3, P=56, Q=56)
    program = lower(conv(), sizes)
    instances = 8 * 64 * 56 * 56 * 64 * 9
    assert points(program, "O") == instances
    assert flops(program) == 2 * instances
    assert poly.bytes(program) == 4 * (8 * 64 * 58 * 58 + 64 * 64 * 9 + 8 * 64 * 56 * 56)


def test_a_large_triangle_times_a_box():
    i, j, k = span("i", "N"), span("j", "N"), span("k", "N", "reduction", lower=calc("i", "+", 1))
    value = mul(read("A", "i", "k"), read("B", "k", "j"))
    tensors = [
        tensor("A", "input", "N", "N"),
        tensor("B", "input", "N", "N"),
        tensor("C", "output", "N", "N"),
    ]
    program = lower(op("trmm", tensors, [statement(("C", "i", "j"), value, [i, j, k], "+")], "N"), {"N": 500})
    assert points(program, "C") == 500 * 500 * 499 // 2
    assert footprint(program, "A") == 500 * 499 // 2


def test_footprint_of_a_tile():
    program = lower(conv(), dict(N=1, C=16, H=58, W=58, K=64, R=3, S=3, P=56, Q=56))
    tile = "{ S1[n,k,p,q,c,r,s] : n = 0 and 8 <= p < 24 and 0 <= q < 8 and c < 8 }"
    assert footprint(program, "I", tile) == 8 * 18 * 10
    assert footprint(program, "F", tile) == 64 * 8 * 9
    assert footprint(program, "I", "{ S0[n,k,p,q] }") == 0


def test_a_gather_counts_at_most_one_cell_for_each_instance():
    tensors = [
        tensor("T", "input", 1000),
        tensor("idx", "input", "N", dtype=INT32),
        tensor("O", "output", "N"),
    ]
    value = read("T", Read("idx", (lift("i"),), INT32))
    program = lower(op("take", tensors, [statement(("O", "i"), value, [span("i", "N")])], "N"), {"N": 7})
    assert footprint(program, "T") == 7
    assert poly.bytes(program) == 4 * 7 * 3


def test_both_branches_and_a_sign_count_a_comparison_does_not():
    i = span("i", "N")
    exp = Call("exp", (Unary("-", read("A", "i"), FLOAT32),), FLOAT32)
    value = select(calc("i", ">", 0), add(exp, read("A", "i")), read("A", "i"))
    tensors = [tensor("A", "input", "N"), tensor("O", "output", "N")]
    assert flops(lower(op("e", tensors, [statement(("O", "i"), value, [i])], "N"), {"N": 10})) == 30


def test_counting_needs_every_size():
    with pytest.raises(LoweringError, match="give N, K"):
        points(lower(matmul(), {"M": 3}), "C")


def test_unbounded_and_parametric_sets_are_refused():
    """isl answers 0 for both."""
    with pytest.raises(WorkbenchError, match="infinite"):
        unpack.count(isl.parse_set("{ [i] : i > 0 }"))
    with pytest.raises(WorkbenchError, match="depends on sizes"):
        unpack.count(isl.parse_set("[N] -> { [i] : 0 < i < N }"))
    assert unpack.count(isl.parse_set("[N] -> { [i] : 0 < i < 5 }")) == 4


def test_the_operation_cap_stops_and_does_not_stick():
    with poly.budget(10), pytest.raises(BudgetExceeded, match="10 polyhedral operations"):
        poly.dependences(lower(conv(), dict(N=3)))
    assert poly.dependences(lower(conv(), dict(N=3)))


def test_exceptions_in_callbacks_are_kept():
    def fail(*_: object) -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        unpack.foreach_results(isl.parse_set("{ [i] : 0 <= i < 3 }").foreach_point, fail)


def test_out_of_bounds_has_the_smallest_sizes_and_the_first_instance():
    tensors = [tensor("A", "input", "N"), tensor("O", "output", "N")]
    made = op("shift", tensors, [statement(("O", "i"), read("A", calc("i", "+", 2)), [span("i", "N")])], "N")
    (found,) = out_of_bounds(lower(made))
    assert (found.sizes, found.instance, found.index, found.certain) == ({"N": 1}, {"i": 0}, 2, True)
    (found,) = out_of_bounds(lower(made, {"N": 5}))
    assert str(found) == "O reads A outside: index 5 in dimension 0 at i=3"
    assert not out_of_bounds(lower(made, {"N": 0}))


def test_guards_are_respected():
    tensors = [tensor("A", "input", "N"), tensor("O", "output", "N")]
    inside = calc(calc("i", "+", 2), "<", "N")
    value = select(inside, read("A", calc("i", "+", 2)))
    assert not out_of_bounds(lower(op("g", tensors, [statement(("O", "i"), value, [span("i", "N")])], "N")))


def test_a_guard_on_data_is_not_certain():
    tensors = [tensor("A", "input", "N"), tensor("O", "output", "N")]
    value = select(calc(read("A", "i"), ">", 0), read("A", calc("i", "+", 1)))
    (found,) = out_of_bounds(lower(op("g", tensors, [statement(("O", "i"), value, [span("i", "N")])], "N")))
    assert not found.certain


def test_random_accesses_leave_their_arrays_where_enumeration_says():
    outside = 0
    for seed in range(examples(quick=10, ci=40, full=300)):
        made, sizes = Maker(seed).operator(), {"N": 9, "M": 8}
        run = brute.events(made, sizes)
        expected = set()
        for e in run:
            cells = [(c, "read") for c in e.reads] + [(c, "write") for c in e.writes]
            expected |= {
                (e.key[0], name, kind) for (name, cell), kind in cells if any(not -4 <= x < 11 for x in cell)
            }
        found = out_of_bounds(lower(made, sizes))
        assert {(f.statement, f.access.array, f.access.kind) for f in found} == expected
        outside += len(expected)
    assert outside > 5


def test_threads_share_one_door():
    """isl itself is not thread-safe; eight threads lower and analyse different sizes at once."""

    def analyse(n: int) -> int:
        program = lower(conv(), {"N": n, "C": 3})
        return len(poly.dependences(program)) + len(poly.violations(program, poly.naive_tree(program)))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(analyse, range(20, 44))) == {3}
