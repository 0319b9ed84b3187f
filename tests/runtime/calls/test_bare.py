"""Kernels that are only measured: less to read and to link, and the machine code that every other build has."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.codegen import generate
from workbench.codegen.kernel import Kernel
from workbench.runtime.calls import bare
from workbench.runtime.compilers.entries import SOURCE
from workbench.schedules.scheduled_program import as_program
from workbench.tune.measuring.timing import Load, _Callable
from workbench.tune.measuring.workload import workload
from workbench.tune.problem import Problem, problem_of

SIZES = {"N": 33, "M": 70}
TEXTS = {
    "no function": "def f(float(N,M) A) -> (B) { B(i,j) = 0.5 * A(i,j) + A(i,j) * A(i,j) }",
    "infinity": "def f(float(N,M) A) -> (R) { R(n) max=! A(n,m) }",
    "own functions": "def f(float(N,M) A) -> (B) { B(i,j) = A(i,j) * tanh(log(1.0 + exp(A(i,j)))) }",
    "the compiler's": "def f(double(N,M) A) -> (B) { B(i,j) = lgamma(fabs(A(i,j)) + 1.0) }",
    "both": "def f(double(N,M) A) -> (s, B) { s(n) +=! erf(A(n,m))  B(n,m) = fmod(A(n,m), 2.0) - exp(s(n) * 0.001) }",
}


def kernel_of(text: str) -> tuple[Problem, Kernel]:
    program = as_program(wb.operator(text), SIZES)
    problem = problem_of(program, "c")
    return problem, generate(wb.autoschedule(program, problem.target), problem.target)


def assembly(problem: Problem, kernel: Kernel, folder: Path) -> list[str]:
    """What the compiler makes of the text that `build_bare` left in a folder."""
    flags = problem.toolchain.flags(kernel.target)
    command = (*problem.toolchain.command, *flags, "-S", "-o", "kernel.s", SOURCE)
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return [line for line in (folder / "kernel.s").read_text().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("name", TEXTS)
def test_a_kernel_that_is_measured_is_compiled_as_any_other_and_is_right(name, tmp_path, monkeypatch):
    problem, kernel = kernel_of(TEXTS[name])
    found, whole = tmp_path / "found", tmp_path / "whole"
    found.mkdir()
    whole.mkdir()
    library = bare.build_bare(kernel, problem.toolchain, found)
    call = _Callable(Load(str(library), kernel.signature, kernel.sizes), known := workload(problem.program), 1)
    call.begin()
    assert call.calls(1)[1] == 0
    assert known.expected.judged(call.outputs)
    monkeypatch.setattr(bare, "calls_no_maths", lambda source: False)
    bare.build_bare(kernel, problem.toolchain, whole)
    assert assembly(problem, kernel, found) == assembly(problem, kernel, whole)


@pytest.mark.parametrize("name", TEXTS)
def test_the_header_of_functions_is_left_out_where_none_is_called(name, tmp_path):
    problem, kernel = kernel_of(TEXTS[name])
    bare.build_bare(kernel, problem.toolchain, tmp_path)
    needed = name in ("the compiler's", "both") or problem.toolchain.family != "gcc"
    assert (bare.MATHS in (tmp_path / SOURCE).read_text()) == needed


@pytest.mark.parametrize(
    "change",
    [
        ("return 0;", "return (int)lrint(0.0);"), ("return 0;", "return FP_NAN - FP_NAN;"),
        (bare.MATHS, f"{bare.MATHS}\n#include <fenv.h>"), (bare.MATHS, ""),
    ],
)  # fmt: skip
def test_what_the_text_may_need_stays(change, tmp_path):
    problem, kernel = kernel_of(TEXTS["no function"])
    assert bare.calls_no_maths(kernel.source)
    other = replace(kernel, source=kernel.source.replace(*change))
    assert other.source != kernel.source
    assert not bare.calls_no_maths(other.source)
    assert bare.build_bare(other, problem.toolchain, tmp_path).exists()


def test_words_in_comments_and_strings_call_nothing():
    text = f'{bare.MATHS}\n/* exp(x) */ // sin(x)\n#pragma omp for schedule(static)\n_Pragma("GCC unroll(2)")\n'
    assert bare.calls_no_maths(f"{text}int f(int x) {{ return x; }}")
    assert not bare.calls_no_maths(f"{text}float f(float x) {{ return sinf(x); }}")


def test_not_a_number_and_infinity_are_those_of_the_header(tmp_path):
    problem, kernel = kernel_of(TEXTS["infinity"])
    library = bare.build_bare(kernel, problem.toolchain, tmp_path)
    call = _Callable(Load(str(library), kernel.signature, kernel.sizes), known := workload(problem.program), 1)
    known.inputs["A"][:] = -np.inf
    known.inputs["A"][3, 5] = np.nan
    call.begin()
    assert call.calls(1)[1] == 0
    wanted = np.full(SIZES["N"], -np.inf, np.float32)
    wanted[3] = np.nan
    np.testing.assert_array_equal(call.outputs[0], wanted)
