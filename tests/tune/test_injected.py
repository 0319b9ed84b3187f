"""Candidates that crash, hang, take all memory or compute something else are outcomes, and the study goes on."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.tune.measuring.runner import Limits

PRODUCT = "def product(float(N) A, float(N) B) -> (C) { C(i) = A(i) * B(i) }"
SOURCE = """
#include <stdlib.h>
#include <string.h>
void {name}(const float *A, int64_t a, const float *B, int64_t b, float *C, int64_t c, int64_t N) {{
    {body}
    for (int64_t i = 0; i < N; i++) C[i*c] = A[i*a] * B[i*b];
}}
"""
BODIES = {
    "good": "",
    "slow": "for (volatile int64_t n = 0; n < 100000; n++) ;",
    "crash": "*(volatile int *)8 = 1;",
    "hang": "for (volatile int64_t n = 1; n; n |= 1) ;",
    "hungry": "for (;;) memset(malloc(1 << 28), 1, 1 << 16);",  # some pages of each: soon over beside other work
    "wrong": "if (N) { for (int64_t i = 0; i < N; i++) C[i*c] = A[i*a] * B[i*b] * 1.01f; return; }",
    "leaves": "exit(0);",
    "gone": "#error not C at all",
}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    for name, body in BODIES.items():
        text = SOURCE.format(name=f"wb_test_{name}", body=f"\n{body}\n" if "#" in body else body)
        wb.register(wb.MicroKernel(f"wb_test_{name}", PRODUCT, text))
    start = wb.schedule(wb.operator(PRODUCT), N=512)
    steps = wb.choose(*(wb.replace("C/i", f"wb_test_{name}") for name in BODIES), None, name="by")
    found = wb.autotune(
        start | steps, searcher="grid", database=tmp_path_factory.mktemp("injected") / "trials.sqlite",
        limits=Limits(run_seconds=4.0, memory_bytes=1 << 30),
    )  # fmt: skip
    return found.result()


@pytest.mark.parametrize(
    ("name", "outcome", "said"),
    [
        ("good", "measured", ""),
        ("slow", "measured", ""),
        ("crash", "crashed", "was killed by SIGSEGV"),
        ("hang", "timed out", "did not answer within"),
        ("hungry", "crashed", "was killed by SIG"),
        ("wrong", "wrong", "DIFFERS from the oracle"),
        ("leaves", "crashed", "was ended"),
        ("gone", "not built", "not C at all"),
    ],
)
def test_what_went_wrong_is_an_outcome_of_its_trial_alone(study, name, outcome, said):
    (trial,) = [t for t in study.trials if f"wb_test_{name}" in str(t.point.get("by", ""))]
    assert trial.outcome == outcome
    assert said in trial.message


def test_the_study_went_on_to_the_end(study):
    assert study.state == "finished"
    assert sum(t.source == "search" for t in study.trials) == len(BODIES) + 1
    assert study.best_trial.measured
    assert "slow" not in str(study.best_trial.point.get("by"))


def test_a_trial_that_failed_has_a_schedule_but_no_seconds(study):
    for trial in study.trials:
        assert (trial.seconds is None) == (trial.outcome != "measured")
        assert study.schedule(trial).verdict
