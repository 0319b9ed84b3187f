"""What C means here: instances, accesses, order, and the numbers that come out."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench import poly
from workbench.fromc import raised_from
from workbench.poly.programs.program import Program


def same(text: str, *arrays: object, **options: object) -> Program:
    """The program, after it gave the same bits as the text in its order (naive, compiled without contraction)."""
    program = wb.from_c(text, **options)
    expected = wb.evaluate_c(program, *arrays)
    kernel = wb.build(wb.schedule(program), debug=True)
    computed = kernel(*(np.array(a) if isinstance(a, np.ndarray) else a for a in arrays))
    for a, b in zip(_tuple(computed), _tuple(expected), strict=True):
        np.testing.assert_array_equal(a, b)
    return program


def _tuple(value):
    return value if isinstance(value, tuple) else (value,)


def numbers(*shape: int) -> np.ndarray:
    return np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape) % 7 - 3


def test_a_program_in_words(golden):
    text = """
    void smooth(int n, double A[n][n], double s) {
        for (int i = 1; i < n - 1; i++) {
            double left = A[i][0];
            for (int j = n - 2; j >= 1; j--)
                if (i != j)
                    A[i][j] += s * (A[i][j + 1] - left);
        }
    }"""
    golden(str(same(text, 5, numbers(5, 5), 0.5)))


def test_a_bare_nest_declares_what_it_is_given():
    program = same(
        "double A[n], B[n]; double s;\nfor (i = 0; i < n; i++) B[i] = s * A[i];", 5, numbers(5), numbers(5), 2.0
    )
    assert program.outputs == ("B",)
    assert program.parameters == ("A", "s")
    assert program.symbols == ("n",)


def test_variables_of_the_file_are_parameters():
    program = same("#define N 6\ndouble A[N], B[N];\nvoid f(void) { for (int i = 0; i < N; i++) A[i] += B[i]; }",
                   numbers(6), numbers(6))  # fmt: skip
    assert program.outputs == ("A",)


def test_macros_types_and_comments():
    text = """
    #include <math.h>
    #define REAL float
    #define TWO (1 + 1)
    typedef REAL number; // a name
    void f(int n, number A[restrict n], const number *x) { /* what
        it does */
    #pragma scop
        for (long i = 0; i < n; ++i) A[i] = TWO * x[i] + 0x10 * 1e-1f + sqrtf(fabsf(A[i]));
    #pragma endscop
        return;
    }"""
    program = same(text, 5, numbers(5).astype("f4"), numbers(5).astype("f4"))
    assert program.arrays["A"].dtype.name == "float32"
    assert "x_length" in program.symbols


@pytest.mark.parametrize(
    "head",
    ["int i = n - 1; i >= 0; i--", "int i = n; i > 0; i -= 2", "int i = 1; i <= n; i += 3", "int i = 0; i != n; ++i",
     "int i = 0; n > i; i = i + 2", "int i = 7; i < 4; i++", "int i = -3; i < n && i < 4; i++",
     "int i = n; i >= 2; --i", "int i = n > 3 ? 3 : n; i >= -2; i -= 1"],
)  # fmt: skip
def test_loops_run_as_in_c(head):
    text = f"void f(int n, double A[16], int I[16]) {{ for ({head}) {{ A[i + 4] = 2 * A[i + 3] + i; I[i + 4] = i; }} }}"
    for n in (0, 1, 7):
        same(text, n, numbers(16), np.zeros(16, "i4"))


@pytest.mark.parametrize("expression", ["i / 3", "i % 3", "(i - 5) / 3", "(i - 5) % 3", "(i - 5) / -2",
                                        "-i % 4 + i / 2", "(2 * i - 7) / 2", "i << 1", "(i + 1) >> 1"])  # fmt: skip
def test_integer_arithmetic_is_that_of_c(expression):
    body = f"A[({expression}) + 8] = i; I[i] = {expression}; if (({expression}) > 1) A[i] += 1;"
    text = f"void f(double A[40], int I[12]) {{ for (int i = 0; i < 12; i++) {{ {body} }} }}"
    same(text, numbers(40), np.zeros(12, "i4"))


@pytest.mark.parametrize("divisor", [10, -10, 7])
@pytest.mark.parametrize(("number", "kind", "factor"), [("int", "i4", 300000000), ("long", "i8", 3 * 10**18)])
def test_a_product_that_wraps_around_is_divided_as_in_c(number, kind, factor, divisor):
    quotient = f"(x * {factor}) / {divisor} + (x * {factor}) % {divisor} * 7 + ((x - 7) * {factor} + 3) / {divisor}"
    program = wb.from_c(f"void f(int n, {number} b[n]) {{ for (int x = 0; x < n; x++) b[x] = {quotient}; }}")
    bits = 8 * np.dtype(kind).itemsize

    def wrapped(value: int) -> int:
        return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)

    def value(x: int) -> int:
        a, b = wrapped(x * factor), wrapped((x - 7) * factor + 3)
        q, p = (abs(y) // abs(divisor) * (1 if (y < 0) == (divisor < 0) else -1) for y in (a, b))
        return wrapped(q + (a - q * divisor) * 7 + p)

    expected = np.array([value(x) for x in range(24)], kind)
    np.testing.assert_array_equal(program(24, np.zeros(24, kind)), expected)
    np.testing.assert_array_equal(wb.evaluate_c(program, 24, np.zeros(24, kind)), expected)


def test_the_smallest_integer_is_divided_as_in_c():
    text = "void f(int n, int I[n]) { for (int i = 0; i < n; i++) I[i] = I[i] / 3 + I[i] % 7; }"
    same(text, 4, np.array([-(2**31), 2**31 - 1, -1, 7], "i4"))


def test_types_convert_as_in_c():
    text = """void f(int n, float A[n], double D[n], int I[n], unsigned char U[n], long L[n], double s) {
        for (int i = 0; i < n; i++) {
            U[i] = U[i] + 200 + i;
            A[i] = A[i] * 0.1 + 1 / 2 + I[i] / 2;
            D[i] = (float)s * A[i] + (I[i] > 1) + !U[i];
            I[i] += 2.7 * s;
            L[i] = (long)I[i] * 4000000000L + i * i;
            D[i] -= fmin(D[i], 1.5f) + (i == 2 ? 1 : s);
        }
    }"""
    same(text, 6, numbers(6).astype("f4"), numbers(6), np.arange(6, dtype="i4"), np.arange(6, dtype="u1"),
         np.zeros(6, "i8"), 1.7)  # fmt: skip


def test_conditions_of_data_select():
    text = """void f(int n, double A[n], double B[n]) {
        for (int i = 0; i < n; i++) {
            if (i > 0 && A[i - 1] > 0) A[i] = A[i - 1]; else B[i] = 2;
            if (A[i] < 0) { A[i] = -A[i]; B[i] += A[i]; } else if (B[i] > 1) B[i] = A[i];
        }
    }"""
    program = same(text, 9, numbers(9), numbers(9))
    assert any(s.name == "condition" for s in program.statements)


def test_a_condition_holds_for_all_that_it_guards():
    """What is guarded changes what the condition is made of."""
    loop = "for (int i = 0; i < n; i++) A[i] = -A[i] - i;"
    text = f"void f(int n, double A[n]) {{ if (A[0] > 0) {loop} else {{ A[0] = 3; A[1] = A[0]; }} }}"
    for first in (1.0, -1.0):
        same(text, 5, np.full(5, first))


def test_gathers_and_scatters():
    loop = "for (int i = 0; i < n; i++) B[idx[i]] += A[idx[i] / 2];"
    text = f"void f(int n, double A[n], double B[n], int idx[n]) {{ {loop} }}"
    program = same(text, 6, numbers(6), numbers(6), np.array([5, 0, 0, 3, 2, 1], "i4"))
    with pytest.raises(wb.errors.KernelError, match="out of range"):
        program(6, numbers(6), numbers(6), np.array([9, 0, 0, 3, 2, 1], "i4"))
    with pytest.raises(wb.errors.KernelError, match="out of range"):
        wb.evaluate_c(program, 6, numbers(6), numbers(6), np.array([9, 0, 0, 3, 2, 1], "i4"))


def test_pointers_are_arrays_of_one_dimension():
    text = "void f(int n, int m, double *A, double *x, double *s) {\n  for (int i = 0; i < n; i++) { x[i] = 0;\n" \
           "    for (int j = 0; j < m; j++) x[i] += *(A + i * m + j); }\n  *s = x[0]; }"  # fmt: skip
    program = same(text, 3, 4, numbers(12), np.zeros(3), np.zeros(1))
    read = next(a for s in wb.lower(program, m=4).statements for a in s.reads if a.array == "A")
    assert read.exact
    assert not any(a.exact for s in program.statements for a in s.reads if a.array == "A")


def test_locals_do_not_stand_in_the_way_of_parallel_loops():
    text = """void f(int n, double A[n][n], double B[n][n]) {
        double total, acc[4];
        for (int i = 0; i < n; i++) {
            total = 0;
            double row[8] = {0};
            for (int j = 0; j < n; j++) { row[j % 8] += A[i][j]; total += A[i][j]; }
            for (int j = 0; j < n; j++) { double t = row[j % 8] - total; B[i][j] = t * t; }
        }
    }"""
    program = same(text, 9, numbers(9, 9), numbers(9, 9))
    schedule = wb.schedule(program) | wb.parallelize("i")
    assert wb.verify(wb.build(schedule), 9, numbers(9, 9), numbers(9, 9))


def test_a_scalar_that_carries_something_is_not_private():
    text = "void f(int n, double A[n]) { double s = 0; for (int i = 0; i < n; i++) { s += A[i]; A[i] = s; } }"
    program = same(text, 7, numbers(7))
    with pytest.raises(wb.errors.IllegalSchedule):
        wb.schedule(program) | wb.parallelize("i")


def test_the_order_of_a_sum_is_fixed_unless_declared_free():
    text = "void f(int n, double A[n], double s[1]) { for (int i = 0; i < n; i++) s[0] += A[i]; }"
    fixed, free = wb.from_c(text), wb.from_c(text, reassociate=True)
    assert [s.kind for s in fixed.statements] == ["assign"]
    assert [s.reduction for s in free.statements] == ["+"]
    assert fixed != free
    assert wb.from_c(free.operator) == free
    with pytest.raises(wb.errors.IllegalSchedule):
        wb.schedule(fixed) | wb.reverse("i")
    assert wb.verify(wb.build(wb.autoschedule(free, n=1000)), numbers(1000), numbers(1))


@pytest.mark.parametrize(
    ("update", "reduction"),
    [("s[0] += A[i]", "+"), ("s[0] = s[0] - A[i]", "+"), ("s[0] *= A[i]", "*"), ("s[0] = max(s[0], A[i])", "max"),
     ("s[0] = s[0] + A[i] + 1", None), ("s[0] = s[0] / A[i]", None), ("s[0] = A[i] - s[0]", None)],
)  # fmt: skip
def test_integers_give_the_same_in_any_order(update, reduction):
    text = f"void f(int n, int A[n], int s[1]) {{ for (int i = 0; i < n; i++) {update}; }}"
    of, narrow = wb.from_c(text), wb.from_c(text.replace("int s", "short s").replace("int A", "short A"))
    assert [s.reduction for s in of.statements] == [reduction]
    assert narrow.statements[0].reduction is None or reduction == "max"  # each sum is cut to 16 bits
    A, s = np.arange(2**30, 2**30 + 99, dtype="int32"), np.array([7], "int32")
    if reduction:
        kernel = wb.build(wb.schedule(of, n=99) | wb.vectorize("i"))
        np.testing.assert_array_equal(kernel(A, s.copy()), wb.evaluate_c(of, A, s.copy()))


def test_what_folds_is_put_into_lanes_although_it_reads_its_own_array():
    text = """void fold(int n, int T[n][n]) {
        for (int i = n - 1; i >= 0; i--) for (int j = i + 1; j < n; j++)
            for (int k = i + 1; k < j; k++) T[i][j] = max(T[i][j], T[i][k] + T[k + 1][j]);
    }"""
    of = wb.from_c(text, n=70)
    kernel = wb.build(wb.schedule(of) | wb.vectorize("k"), wb.Target(vector_bits=256))
    assert "wb_max_v8i32(T_r" in kernel.source
    T = np.random.default_rng(5).integers(-50, 50, (70, 70)).astype("int32")
    np.testing.assert_array_equal(kernel(T.copy()), wb.evaluate_c(of, T.copy()))


def test_lanes_that_would_read_what_others_write_are_refused():
    text = """void fold(int n, int T[n]) {
        for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) T[i] = max(T[i], T[k] - 1);
    }"""
    with pytest.raises(wb.errors.IllegalSchedule, match="would race on T"):
        wb.schedule(wb.from_c(text, n=70)) | wb.vectorize("k")


@pytest.mark.parametrize(
    ("update", "reduction"),
    [("C[i] += A[j]", "+"), ("C[i] -= A[j]", "+"), ("C[i] = C[i] * A[j]", "*"), ("C[i] = A[j] + C[i] + 1", "+"),
     ("C[i] = C[i] + A[j] * 2 - 1", "+"), ("C[i] = fmax(C[i], A[j])", "max"),
     ("C[i] = C[i] < A[j] ? C[i] : A[j]", "min"),
     ("C[i] += C[j]", "+"), ("C[i] += C[i] * A[j]", None), ("C[i] = A[j] - C[i]", None),
     ("C[i] = C[i] < A[j] ? A[j] : C[j]", None)],
)  # fmt: skip
def test_what_counts_as_an_update(update, reduction):
    loops = f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {update};"
    text = f"void f(int n, double A[n], double C[n]) {{ {loops} }}"
    assert wb.from_c(text, reassociate=True).statements[0].reduction == reduction


@pytest.mark.parametrize("name", ["matmul", "softmax", "conv2d", "causal_attention", "argmax", "cholesky"])
def test_generated_c_is_read_again(name):
    """The scalar C of a kernel, raised: its arrays are pointers, and the numbers are the operator's."""
    op = wb.ops.load(name)
    op = op.astype("float32") if op.generic else op
    sizes = {n: 5 for n in op.size_names} | dict.fromkeys(op.scalars, 1)
    kernel = wb.generate(wb.schedule(op, sizes=sizes), wb.Target(parallel="serial"), unchecked=True)
    program = wb.from_c(kernel.source, kernel.signature.function)
    assert set(program.outputs) == {p.c_name for p in kernel.signature.outputs}
    assert not poly.violations(program, poly.naive_tree(program))


def test_all_statements_keep_their_text_and_names():
    program = wb.from_c("double A[n]; for (i = 0; i < n; i++) { A[i] = 1; A[i] += 2; }")
    assert [s.name for s in program.statements] == ["A", "A.1"]
    assert [s.text for s in program.statements] == ["A[i] = 1", "A[i] += 2"]
    assert raised_from(program).sequential.count("A[i] += 2") == 1


def test_sizes_are_bound_step_by_step():
    program = wb.from_c(
        "void f(int n, int t, double A[n]) { for (int k = 0; k < t; k++) for (int i = 0; i < n; i++) A[i] += k; }"
    )
    bound = wb.lower(wb.lower(program, n=4), t=2)
    assert bound == wb.from_c(program.operator, n=4, t=2)
    assert bound.symbols == ()
    with pytest.raises(wb.errors.LoweringError, match="bound already"):
        wb.lower(bound, n=5)
    assert wb.schedule(program, n=4).program == wb.lower(program, n=4)


def test_pictures_of_a_program_from_c():
    program = wb.from_c(
        "void f(int n, double A[n]) { for (int i = 1; i < n; i++) { double t = A[i - 1]; A[i] += t; } }"
    )
    schedule = wb.schedule(program, n=6)
    for value in (program, schedule, wb.generate(schedule), wb.build(schedule)):
        assert value._repr_mimebundle_()["text/html"]


def test_a_schedule_is_stored_with_its_c():
    program = wb.from_c("void f(int n, double A[n]) { for (int i = 0; i < n; i++) A[i] *= 2; }")
    schedule = wb.schedule(program, n=64) | wb.tile(i=8) | wb.vectorize("i_i")
    assert wb.Schedule.from_json(wb.lower(program, n=64), schedule.to_json()) == schedule
    scope: dict[str, object] = {}
    exec(schedule.to_python(), scope)
    assert scope["schedule"] == schedule
