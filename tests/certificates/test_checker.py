"""The checker by itself: hand-written texts, and claims that lie."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

import workbench as wb
from workbench.certificates.checker import Claim, check
from workbench.errors import CertificationError
from workbench.poly.programs.program import Program

N = 4
TWO = wb.poly.lower(wb.operator("def two(float(N) A) -> (C, D) { C +=! A(n) D *=! A(n) }"), {"N": N})
ADDED = wb.poly.lower(
    wb.operator("def added(float(N) A, float(M) B) -> (C) { C(m) = B(m) C(m) += A(n) where n in 0:N }"),
    {"N": N, "M": 2},
)


def checked(
    program: Program, body: str, claims: Iterable[tuple[str, str, str]], parallel: tuple[str, ...] = ()
) -> None:
    """Check a body; claims are (statement of the text, target, instances)."""
    arrays = [program.arrays[name] for name in (*program.parameters, *program.outputs)]
    taken = ", ".join(f"{'' if a.role == 'output' else 'const '}float *{a.name}" for a in arrays)
    found = {f"text_{own}_0": Claim(target, (f"text_{own}_0",), instances) for own, target, instances in claims}
    check(program, f"void f({taken}) {{\n{body}\n}}", "f", {a.name: a for a in arrays}, found, parallel)


def each(statement: str, *dims: str) -> str:
    """The instances of a statement with these dims, one by one."""
    inside = ", ".join(dims)
    return f"{{ T[{inside}] -> {statement}[{inside}] }}"


PLAIN = """
C[0] = 0.0f; D[0] = 1.0f;
for (int n = 0; n < 4; n++) C[0] += A[n];
for (int n = 0; n < 4; n++) D[0] *= A[n];
"""
CLAIMS = (
    ("S0", "S0_0", each("S0")),
    ("S1", "S2_0", each("S2")),
    ("S2", "S1_0", each("S1", "n")),
    ("S3", "S3_0", each("S3", "n")),
)
PARTS = """
C[0] = 0.0f; D[0] = 1.0f;
float p[1];
p[0] = %s;
for (int n = 0; n < 4; n++) p[0] += A[n];
C[0] %s p[0];
for (int n = 0; n < 4; n++) D[0] *= A[n];
"""


def parts(combining: str) -> tuple[tuple[str, str, str], ...]:
    """Claims of `PARTS`, its combination one of a target."""
    return (*CLAIMS[:2], ("S3", "S1_0", each("S1", "n")), ("S4", combining, ""), ("S5", "S3_0", each("S3", "n")))


def test_true_claims_are_believed():
    checked(TWO, PLAIN, CLAIMS)
    checked(TWO, PARTS % ("0.0f", "+="), parts("S1_0"))


@pytest.mark.parametrize("left_out", range(4))
def test_nothing_is_proved_without_its_claim(left_out):
    claims = [claim for n, claim in enumerate(CLAIMS) if n != left_out]
    with pytest.raises(CertificationError, match=r"at the end: \(\) would not get"):
        checked(TWO, PLAIN, claims)


LIES = {
    "a sum combined by the product of another statement": ("1.0f", "*=", "S3_0", "cannot be combined"),
    "a sum combined by a product": ("0.0f", "*=", "S1_0", "another expression"),
    "a partial result that begins with the cell": ("C[0]", "+=", "S1_0", r"would get C\.init"),
    "an initialisation that combines": ("0.0f", "+=", "S0_0", "nothing that computes it"),
}


@pytest.mark.parametrize("name", LIES)
def test_lies_about_partial_results_are_found(name):
    begin, operator, target, message = LIES[name]
    with pytest.raises(CertificationError, match=message):
        checked(TWO, PARTS % (begin, operator), parts(target))


TWICE = """
for (int m = 0; m < 2; m++) C[m] = B[m];
for (int m = 0; m < 2; m++) {
    float p = C[m];
    for (int n = 0; n < 4; n++) C[m] += A[n];
    %s
}
"""
SUMMED = (("S0", "S0_0", each("S0", "m")), ("S2", "S1_0", each("S1", "m", "n")))


def test_what_a_sum_begins_with_counts_once():
    checked(ADDED, TWICE % "", SUMMED)
    with pytest.raises(CertificationError, match="cannot be combined"):
        checked(ADDED, TWICE % "C[m] += p;", (*SUMMED, ("S3", "S1_0", "")))


def test_a_copy_that_only_data_allow_is_no_copy():
    guarded = "float q[2]; q[m] = C[m]; if (A[0] > 0.0f) C[m] = q[m];"
    with pytest.raises(CertificationError, match="at the end"):
        checked(ADDED, TWICE % guarded, SUMMED)


@pytest.mark.parametrize(
    ("instances", "message"),
    [
        ("{ T[n] -> S1[n + 1] }", "instances that it does not have"),
        ("{ T[n] -> S1[m] : 0 <= m < 4 }", "instances that it does not have"),
        ("{ T[n] -> S1[3 - n] }", "would not get what stood in A"),
        ("{ T[n] -> S1[n] : n < 3 }", "at the end"),
    ],
)
def test_lies_about_instances_are_found(instances, message):
    with pytest.raises(CertificationError, match=message):
        checked(TWO, PLAIN, [*CLAIMS[:2], ("S2", "S1_0", instances), CLAIMS[3]])


def test_a_claim_is_about_all_targets_of_a_statement():
    program = wb.poly.lower(wb.ops.load("argmax"), {"M": 2, "N": 3})
    text = "void f(const float *A, float *V, int *I) { for (int m = 0; m < 2; m++) V[m] = -1.0f; }"
    layouts = {name: program.arrays[name] for name in ("A", "V", "I")}
    with pytest.raises(CertificationError, match=r"V\.init: a claim, but nothing that computes it"):
        check(program, text, "f", layouts, {"text_S0_0": Claim("S0_0", ("text_S0_0",), each("S0", "m"))})


def test_every_result_is_an_argument_of_the_text():
    layouts = {name: TWO.arrays[name] for name in ("A", "C")}
    text = "void f(const float *A, float *C) { C[0] = 0.0f; for (int n = 0; n < 4; n++) C[0] += A[n]; }"
    claims = {f"text_{own}_0": Claim(t, (f"text_{own}_0",), i) for own, t, i in (CLAIMS[0], ("S1", *CLAIMS[2][1:]))}
    with pytest.raises(CertificationError, match="D is not an argument of the text"):
        check(TWO, text, "f", layouts, claims)


def test_loops_said_to_be_parallel_have_no_races():
    with pytest.raises(CertificationError, match="the loop n is parallel, but its iterations 1 and 0 may meet"):
        checked(TWO, PLAIN, CLAIMS, ("S2",))


def test_what_was_computed_ahead_is_looked_into():
    program = wb.poly.lower(wb.operator("def squares(float(N) A) -> (C) { C(n) = A(n) * A(n) + 1 }"), {"N": N})
    body = "for (int n = 0; n < 4; n++) {{ float x = A[n] * {0}; C[n] = x + 1.0f; }}"
    claims = [("S1", "S0_0", each("S0", "n"))]
    checked(program, body.format("A[n]"), claims)
    with pytest.raises(CertificationError, match=r"C: \(\d\) would not get what stood in A\(\d\)"):
        checked(program, body.format("A[3 - n]"), claims)
