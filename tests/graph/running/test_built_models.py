"""What a built model is: one program for each sizes, new results, errors that name the call, kernels built once."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import workbench as wb
from tests.graph.running.comparing import agrees
from tests.support import ROOT
from workbench.errors import BuildError, CallError, KernelError, LoweringError
from workbench.graph.memory import faults
from workbench.graph.running import step_kernels

OPERATORS = """
def dense<T>(T(M,K) x, T(N,K) w) -> (y) { y(m,n) +=! x(m,k) * w(n,k) }
def rampfall<T>(T(N) x, T(N) y) -> (up, down) {
    up(i) = x(i) + y(i)
    down(i) = x(i) - y(i)
}
def folded<T>(T(N,M) x) -> (y) { y(i) = x(i / M, i % M) where i in 0:N*M }
def turned<T>(T(N,M) x) -> (y) { y(j,i) = x(i,j) }
def squared<T>(T(N) x) -> (y) { y(i) = x(i) * x(i) }
def picked<T>(T(N) x, int32(K) at) -> (y) { y(k) = x(at(k)) }
def pushed<T>(T(N) x, T(N) y) -> (T(N) total) { total(i) += x(i) * y(i) }
def every_second(float(N) x) -> (float(2*N) y) { y(2*i) = x(i) }
def scaled<T, S>(T(N) x, S by) -> (y) { y(i) = x(i) * T(by) }
def promised(float(N) x, int32(K) at) -> (float(N) y) where injective(at) { y(at(k)) = x(k) where k in 0:K }
"""
rng = np.random.default_rng(0)


def array(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def made(text, *constants):
    return wb.model(OPERATORS + text, constants)


def test_a_straight_model_is_one_program_for_each_sizes():
    given = made("fn main(x: float32[b, 5]) { softmax(dense(dense(x, const#0), const#1)) }", array(7, 5), array(3, 7))
    built = wb.build(given)
    assert built.is_straight
    assert not built.programs
    for batch in (4, 1, 0, 4):
        x = array(batch, 5)
        assert agrees(built(x), given.evaluate(x))
        assert agrees(built(np.asfortranarray(x)), given.evaluate(x))
    assert len(built.programs) == 3


def test_a_model_whose_sizes_are_numbers_is_made_when_it_is_built():
    built = wb.build(made("fn main(x: float32[4, 5]) { dense(x, x) }"))
    assert len(built.programs) == 1
    assert "1 kernel calls of 1 kernels" in str(built)


def test_ever_new_sizes_are_left_to_kernels_for_all_sizes():
    text = """
    fn main(x: float32[n], at: int32[k], t: float32[n]) {
        let (up, down) = rampfall(squared(x), x)
        (pushed(up, down, t), softmax(folded2(picked(up, at))), every_second(x))
    }
    def folded2<T>(T(N) x) -> (y) { y(i,j) = x(i) + j where j in 0:3 }
    """
    given = made(text)
    built = wb.build(given)
    for n in range(20):
        x, at, t = array(n), np.arange(n // 2, dtype=np.int32), array(n)
        assert agrees(built(x, at, t), given.evaluate(x, at, t))
    assert len(built.programs) == 16


def test_functions_that_are_straight_belong_to_the_program():
    text = """
    fn twice(x, s) { let (up, down) = rampfall(x, s); (up, (down, squared(up))) }
    fn main(x: float32[n]) { let (a, b) = twice(x, x); let (c, d) = twice(a, b.1); (d.0, c, b.0) }
    """
    given, x = made(text), array(6)
    built = wb.build(given)
    assert built.is_straight
    assert agrees(built(x), given.evaluate(x))


def test_equal_operators_at_equal_sizes_are_built_once():
    built = wb.build(made("fn main(x: float32[16]) { squared(squared(squared(x))) }"))
    (program,) = built.programs
    assert len(program.stepped) == 3
    assert len({kernel.address for _, kernel in program.stepped}) == 1


def test_a_second_start_neither_lowers_nor_compiles(monkeypatch):
    x = array(5, 6)
    given = made("fn main(x: float32[5, 6]) { turned(dense(turned(dense(x, x)), const#0)) }", array(9, 5))
    first = wb.build(given)(x)
    monkeypatch.setattr(step_kernels, "_generated", lambda call, _: pytest.fail(f"{call.name} is generated again"))
    assert np.array_equal(wb.build(given)(x), first)


def test_another_process_makes_the_same_keys():
    text = "from workbench.graph.running.step_kernels import _circumstances; print(_circumstances())"
    found = {
        subprocess.run([sys.executable, "-c", text], env={**os.environ, "PYTHONHASHSEED": seed}, cwd=ROOT,
                       check=True, capture_output=True, text=True).stdout for seed in "12"
    }  # fmt: skip
    assert len(found) == 1


def test_results_are_new_arrays():
    given = made("fn main(x: float32[2, 3]) { (x, folded(x), folded(x), turned(turned(x)), const#0) }", array(2))
    x = array(2, 3)
    built = wb.build(given)
    results = built(x)
    assert agrees(results, given.evaluate(x))
    others = [x, *given.constants, *built(x)]
    for at, one in enumerate(results):
        assert one.flags.writeable
        for other in (*others, *results[:at]):
            assert not np.shares_memory(one, other)


def test_a_change_of_shape_is_no_call():
    given, x = made("fn main(x: float32[2, 3]) { let y = folded(x); (squared(y), y, folded(turned(x))) }"), array(2, 3)
    built = wb.build(given)
    (program,) = built.programs
    assert [call.op.name for call, _ in program.stepped].count("folded") == 0
    assert agrees(built(x), given.evaluate(x))


@pytest.mark.parametrize("element", ["bool", "uint8", "int8", "int16", "uint16", "uint32", "int64", "uint64", "float16",
                                     "bfloat16", "float32", "float64"])  # fmt: skip
def test_scalars_of_every_type_are_taken_from_memory(element):
    given = made(f"fn main(x: float32[n], s: {element}, i: int32) {{ scaled(scaled(x, s), i) }}")
    x, s = array(5), np.array(1, wb.lang.dtypes.DTYPES[element].numpy)
    assert agrees(wb.build(given)(x, s, 3), given.evaluate(x, s, 3))


def test_outputs_that_are_read_and_cells_that_nobody_writes():
    given = made("fn main(x: float32[n], t: float32[n]) { (pushed(x, x, t), every_second(x), t) }")
    built = wb.build(given)
    for n in (3, 0):
        x, t = array(n), array(n)
        before = t.copy()
        assert agrees(built(x, t), given.evaluate(x, t))
        assert np.array_equal(t, before)


def test_what_is_computed_from_constants_is_computed_once():
    given = made("fn main(x: float32[3]) { pushed(x, squared(const#0), squared(squared(const#0))) }", array(3))
    built = wb.build(given)
    (program,) = built.programs
    assert len(program.stepped) == 1


def test_constants_are_held_once_for_all_sizes():
    weights = array(7, 5)
    text = "fn main(x: float32[b, 5]) { (dense(x, turned(const#0)), dense(x, turned(turned(const#1)))) }"
    given = made(text, np.asfortranarray(weights.T), np.asfortranarray(weights))
    built = wb.build(given)
    for batch in (2, 3):
        x = array(batch, 5)
        assert agrees(built(x), given.evaluate(x))
    first, second = ({id(value.array) for value in program.constants} for program in built.programs)
    assert first == second


def test_an_index_out_of_range_names_the_call():
    built = wb.build(made('fn main(x: float32[n], at: int32[k]) { squared(picked(x, at)) }'))
    x = array(4)
    assert agrees(built(x, np.array([0, 3], np.int32)), np.square(x[[0, 3]]))
    with pytest.raises(KernelError, match=r"in the call of picked: an index of x is out of range: .*at\(k\)"):
        built(x, np.array([0, 4], np.int32))


def test_a_promise_about_data_is_checked_in_the_middle():
    given = made("fn main(x: float32[n], at: int32[k]) { squared(promised(squared(x), at)) }")
    built, x = wb.build(given), array(4)
    good = np.array([2, 0, 1, 3], np.int32)
    assert agrees(built(x, good), given.evaluate(x, good))
    with pytest.raises(CallError, match="injective"):
        built(x, np.array([2, 0, 2, 1], np.int32))


def test_what_no_kernel_is_made_for_is_computed_by_the_oracle_and_said(monkeypatch):
    def refuse(call, constants):
        raise LoweringError("not today")

    given = made("fn main(x: float32[13]) { squared(rampfall(x, x).1) }")
    monkeypatch.setattr(step_kernels, "_generated", refuse)
    monkeypatch.setattr(step_kernels, "_known", lambda key: None)
    built, x = wb.build(given), array(13)
    assert agrees(built(x), given.evaluate(x))
    assert "squared is computed by the oracle: not today" in str(built)


# -- Functions of Python ---------------------------------------------------------------------------

REGION = """
fn region(x: float32[n], w: float32[n]) { let (up, down) = rampfall(x, w); (squared(up), down) }
fn main(x: float32[n]) { let (a, b) = region(x, squared(x)); rampfall(a, squared(b)) }
"""


def region(x, w):
    return np.square(x + w), x - w


def test_a_function_of_python_stands_for_one_of_the_model():
    given, seen = made(REGION), []
    built = wb.build(given, calls={"region": lambda x, w: seen.append(x.shape) or region(x, w)})
    x = array(5)
    assert built.is_straight
    assert agrees(built(x), given.evaluate(x))
    assert seen == [(5,)]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x, w: x, "region: expected 2 arrays but found 1"),
        (lambda x, w: (x, w[1:]), r"region: expected float32\[5\] as result but found float32\[4\]"),
        (lambda x, w: (x, w.astype(int)), r"region: expected float32\[5\] as result but found int64\[5\]"),
    ],
)
def test_a_function_that_gives_something_else_is_named(function, words):
    with pytest.raises(CallError, match=words):
        wb.build(made(REGION), calls={"region": function})(array(5))


def test_a_function_of_python_is_called_from_control_flow():
    given = made("""
    fn region(x: float32[n]) -> float32[n] { squared(x) }
    fn repeat(k: int32, x: float32[n]) -> float32[n] { if k < 1 { x } else { repeat(k - 1, region(x)) } }
    fn main(k: int32, x: float32[n]) { repeat(k, x) }
    """)
    count = []
    built = wb.build(given, calls={"region": lambda x: count.append(1) or x * x})
    assert not built.is_straight
    x = array(3)
    assert agrees(built(3, x), given.evaluate(3, x))
    assert len(count) == 3


# -- Threads ---------------------------------------------------------------------------------------


def test_several_threads_may_call_at_once():
    given = made("fn main(x: float32[64, 64]) { dense(dense(x, x), x) }")
    built, inputs = wb.build(given, threads=1), [array(64, 64) / 8 for _ in range(16)]
    expected = [given.evaluate(x) for x in inputs]
    with ThreadPoolExecutor(4) as pool:
        assert all(agrees(a, b) for a, b in zip(pool.map(built, inputs), expected, strict=True))


@pytest.mark.parametrize("threads", [1, 2])
def test_the_number_of_threads_may_be_fixed(threads):
    given, x = made("fn main(x: float32[96, 64]) { dense(x, x) }"), array(96, 64)
    assert agrees(wb.build(given, threads=threads)(x), given.evaluate(x))


def test_more_threads_than_at_first_have_memory_of_their_own():
    given, x = made("fn main(x: float32[96, 64]) { dense(dense(x, x), dense(x, x)) }"), array(96, 64) / 8
    with wb.settings(threads=1):
        built = wb.build(given)
        first = built(x)
    for threads in (4, 1, 2):
        with wb.settings(threads=threads):
            assert agrees(built(x), first)


# -- Errors ----------------------------------------------------------------------------------------


def test_arguments_that_do_not_fit_are_said_as_the_interpreter_says_it():
    given = made("fn main(x: float32[n], y: float32[n]) { rampfall(x, y) }")
    built = wb.build(given)
    x = array(2)
    for arguments in [(x,), (x, array(3)), (x, x.astype(int)), (x, array(2, 2)), ("a", 1)]:
        with pytest.raises(CallError) as expected:
            given.evaluate(*arguments)
        with pytest.raises(CallError) as found:
            built(*arguments)
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "cuda"}, "built for target='c'"),
        ({"threads": 0}, "threads=0"),
        ({"calls": {"mian": abs}}, "unknown function 'mian'; did you mean 'main'"),
        ({"calls": {"main": 3}}, "a function of arrays"),
    ],
)
def test_options_that_do_not_fit(options, words):
    with pytest.raises(BuildError, match=words):
        wb.build(made("fn main(x: float32[2]) { squared(x) }"), **options)


# -- Looking at it ---------------------------------------------------------------------------------


def test_a_profile_has_a_row_for_each_node():
    built = wb.build(made("fn main(x: float32[b, 5]) { softmax(dense(x, const#0)) }", array(7, 5)))
    profile = built.profile(array(4, 5), seconds=0.01)
    assert [node.operator for node in profile.nodes] == ["dense", "softmax"]
    assert all(node.milliseconds >= 0 for node in profile.nodes)
    assert profile.nodes[0].flops == 2 * 4 * 5 * 7
    assert "dense" in str(profile)
    assert set(profile.by_operator()) == {"dense", "softmax"}


FLOW = """
fn fold(xs: List<float32[1, 5]>, s: float32[1, 7]) -> float32[1, 7] {
    match xs { Nil => softmax(s)  Cons(x, rest) => fold(rest, mixed_in(dense(x, const#0), s)) }
}
def mixed_in<T>(T(M,N) x, T(M,N) y) -> (z) { z(m,n) = x(m,n) + tanh(y(m,n)) }
fn main(xs: List<float32[1, 5]>, s: float32[1, 7], deep: bool) {
    let r = fold(xs, s)
    if deep { softmax(softmax(r)) } else { r }
}
"""


def test_a_profile_of_control_flow_has_the_calls_of_pieces_and_their_nodes():
    built = wb.build(made(FLOW, array(7, 5)))
    xs, s = [array(1, 5) for _ in range(6)], array(1, 7)
    profile = built.profile(xs, s, True, seconds=0.01)
    expected = built.model.evaluate(xs, s, True)
    np.testing.assert_allclose(built(xs, s, True), expected, rtol=1e-5, atol=1e-6)
    assert {piece.function for piece in profile.pieces} == {"fold", "main"}
    assert sum(piece.nodes for piece in profile.pieces) == len(profile.nodes)
    ends = [piece.begin + piece.milliseconds for piece in profile.pieces]
    assert all(end <= after.begin for end, after in zip(ends, profile.pieces[1:], strict=False))
    assert ends[-1] <= profile.milliseconds
    assert all(a <= b for a, b in zip(profile.starts, profile.starts[1:], strict=False))
    # Three times on the way, one each round: softmax; the rows of products that wait for nothing are together.
    softmaxes = [node for node in profile.nodes if node.operator == "softmax"]
    assert len(softmaxes) == 3
    assert "calls of compiled pieces" in str(profile)
    assert len(built.profile(xs, s, False, seconds=0.01).nodes) == len(profile.nodes) - 2


def test_a_profile_ends_when_a_call_fails_and_leaves_nothing_watched():
    broken = wb.build(
        made("fn main(x: float32[4], at: int32[2], deep: bool) { if deep { taken(x, at) } else { taken(x, at) } }\n"
             "def taken(float(N) x, int32(M) at) -> (y) { y(m) = x(at(m)) }")
    )  # fmt: skip
    x, good, bad = array(4), np.array([0, 3], np.int32), np.array([0, 4], np.int32)
    with pytest.raises(KernelError, match="index of x"):
        broken.profile(x, bad, True)
    profile = broken.profile(x, good, True, seconds=0.01)
    assert [node.operator for node in profile.nodes] == ["taken"]
    np.testing.assert_array_equal(broken(x, good, True), x[good])


def test_the_plan_of_a_model_is_right_and_its_views_cost_nothing():
    text = "fn main(x: float32[b, 6]) { let y = dense(x, const#0); (softmax(y), squared(folded(turned(y)))) }"
    given = made(text, array(5, 6))
    plan = wb.plan_memory(given, {"b": 4})
    assert not faults(plan)
    assert plan.offsets["folded"] == plan.offsets["turned"]
    assert "squared" in str(plan)


def test_results_are_written_over_inputs_where_each_cell_needs_its_own_alone():
    text = """
    def mixed<T>(T(N,M) x, T(N) y, T(N,M) z) -> (w) { w(i,j) = x(i,j) * y(i) + x(i,j) - z(i,j) }
    def mirrored<T>(T(N,M) x) -> (y) { y(i,j) = x(i,j) - x(i, M-1-j) }
    def raised<T>(T(N,M) x) -> (y) { y(i,j) = 1.0 / (1.0 + x(i,j) * x(i,j)) }
    fn main(x: float32[n,m], y: float32[n]) { mirrored(raised(mixed(raised(raised(x)), y, mixed(x, y, x)))) }
    """
    given = made(text)
    built = wb.build(given)
    for n, m in ((37, 53), (1, 3), (64, 64)):
        x, y = array(n, m) / 9, array(n)
        assert agrees(built(x, y), given.evaluate(x, y))
    taken = {(share.output, share.input) for share in wb.plan_memory(given, {"n": 37, "m": 53}).taken}
    assert ("mixed.1", "mixed") in taken or ("mixed.1", "raised.1") in taken
    assert not any(output == "mirrored" for output, _ in taken)
    program = built.programs[0]
    offsets = program.arena.offsets
    assert any(offsets[name] == offsets.get("mixed.1") for name in ("mixed", "raised.1"))


def test_the_plan_of_a_model_needs_sizes_and_no_control_flow():
    with pytest.raises(CallError, match=r"n has no size; give it: sizes=dict\(n=\.\.\.\)"):
        wb.plan_memory(made("fn main(x: float32[n]) { squared(x) }"))
    with pytest.raises(CallError, match="unknown dimension 'm'"):
        wb.plan_memory(made("fn main(x: float32[n]) { squared(x) }"), {"m": 3})
    with pytest.raises(wb.errors.ModelError, match="control flow"):
        wb.plan_memory(made("fn main(c: bool, x: float32[n]) { if c { squared(x) } else { x } }"), {"n": 3})
