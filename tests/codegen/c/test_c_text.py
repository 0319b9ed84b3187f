"""The C of small operators: read in review, compiled for every ISA the compilers here can target."""

from __future__ import annotations

import re
import subprocess
from itertools import product
from pathlib import Path

import pytest

import workbench as wb
from tests.schedules.texts import EVERY
from tests.support import examples
from workbench.errors import CodegenError, IllegalSchedule
from workbench.schedules import Schedule, affine
from workbench.schedules.recipes import default_schedule
from workbench.target import Target

AVX2 = Target(vector_bits=256, cores=2)


def scheduled(name: str, *, symbolic: bool = False) -> Schedule:
    text, sizes = EVERY[name]
    return default_schedule(wb.lower(wb.operator(text), {} if symbolic else sizes), AVX2)


def body(source: str) -> str:
    """The kernel's functions without the prelude."""
    start = source.index("int64_t ", source.index("_workspace(") - 40)
    return source[: source.index("\n#ifndef")].strip() + "\n\n" + source[start:].strip()


@pytest.mark.parametrize("name", EVERY)
def test_naive(name: str, golden) -> None:
    text, sizes = EVERY[name]
    golden(body(wb.generate(wb.schedule(wb.operator(text), sizes=sizes), AVX2).source), ".c")


@pytest.mark.parametrize("name", EVERY)
def test_recipe(name: str, golden) -> None:
    golden(body(wb.generate(scheduled(name), AVX2).source), ".c")


ISAS = {
    "x86-64": ("-march=x86-64",),
    "haswell": ("-march=haswell",),
    "avx512": ("-march=skylake-avx512",),
}
ZIG_ISAS = {
    "aarch64": ("-target", "aarch64-linux-gnu"),
    "x86-64-v4": ("-target", "x86_64-linux-gnu", "-mcpu=x86_64_v4"),
    "riscv": ("-target", "riscv64-linux-gnu"),
}


def compiles(command: tuple[str, ...], source: str, folder: Path, *flags: str) -> None:
    file = folder / "kernel.c"
    file.write_text(source)
    out = str(folder / "kernel.o")
    warnings = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-psabi", "-Wno-unused-parameter")
    done = subprocess.run(
        [*command, "-std=gnu11", "-O1", "-fPIC", *warnings, *flags, "-Wno-pass-failed", "-c", str(file), "-o", out],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[:3000]


# In a quick run the usual width of each.
WIDTHS = list(product([128, 256, 512], ISAS))[:: examples(quick=4, ci=1, full=1)]


@pytest.mark.parametrize(("width", "isa"), WIDTHS)
def test_every_operator_compiles_without_a_warning(isa: str, width: int, compilers, tmp_path) -> None:
    if "gcc" not in compilers:
        pytest.skip("install gcc: it compiles for other ISAs")
    for name in EVERY:
        text, _ = EVERY[name]
        target = Target(vector_bits=width, cores=2)
        schedule = default_schedule(wb.lower(wb.operator(text)), target)
        compiles(compilers["gcc"], wb.generate(schedule, target).source, tmp_path, *ISAS[isa])


@pytest.mark.slow
@pytest.mark.parametrize("isa", ZIG_ISAS)
def test_other_architectures_compile(isa: str, compilers, tmp_path) -> None:
    if "zig" not in compilers:
        pytest.skip("install ziglang: it compiles for other architectures")
    target = Target(vector_bits=128, cores=4, parallel="pool")
    for name in ("matmul", "softmax", "argmax", "lookup"):
        schedule = default_schedule(wb.lower(wb.operator(EVERY[name][0])), target)
        compiles(compilers["zig"], wb.generate(schedule, target).source, tmp_path, *ZIG_ISAS[isa])


KEYWORDS = """
def while(float(int_,double_) register, float(double_,long_) restrict) -> (main) {
    main(for_,if_) +=! register(for_,k) * restrict(k,if_)
}"""


def test_names_that_c_reserves_are_spelt_otherwise(compiler, tmp_path) -> None:
    kernel = wb.generate(wb.schedule(wb.operator(KEYWORDS)), AVX2)
    assert kernel.signature.function == "while_"
    assert [a.c_name for a in kernel.signature.arrays] == ["register_", "restrict_", "main_"]
    compiles(compiler, kernel.source, tmp_path)


def test_text_of_the_user_cannot_leave_its_comment() -> None:
    text = "def f(float(N) A) -> (B) { # */ int evil; /*\n B(i) = A(i) }"
    source = wb.generate(wb.schedule(wb.operator(text)), AVX2).source
    assert "evil" not in source


def test_the_pool_takes_the_place_of_openmp() -> None:
    source = wb.generate(scheduled("matmul", symbolic=True), Target(vector_bits=256, parallel="pool")).source
    assert "#pragma omp" not in source
    assert source.count("wb_parallel_for(0, ") == 2


def test_partial_results_of_a_loop_in_the_pool_are_passed_to_its_body(compiler, tmp_path) -> None:
    """The array stands on the stack of the loop outside, and inside one iteration it is one place."""
    op = wb.operator("def f(float(N,37) X) -> (T) { T(i) +=! X(i,k) }")
    schedule = wb.schedule(op) | wb.decompose_reduction("T") | wb.split("T/k", 8)
    schedule = schedule | wb.split_reduction("T/k_o", 4) | wb.parallelize("k_o_o")
    source = wb.generate(schedule, Target(vector_bits=256, parallel="pool")).source
    compiles(compiler, source, tmp_path)
    assert "wb_context = { X, T, N, i, T_rf }" in source
    assert re.search(r"T_rf\w* \+= X\[", source)


def test_pieces_of_a_loop_share_a_buffer() -> None:
    """isl computes the values of the first iteration before the loop that reads them."""
    op = wb.operator(
        "def f(float(N,3) X) -> (T, S) { for k in 1:2 { T(l + 1, m) = X(l, m) where l in 0:N, m in 0:3"
        "  S(n, p) = p <= 1 ? T(1, p) : 0 where n in 0:N, p in k:k + 2 } }"
    )
    source = wb.generate(wb.schedule(op, N=5) | wb.compute_at("T", "p", keep=True), AVX2).source
    assert source.count("float T_local[1]") == 1


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        ("", "static"),
        ("m in 0:M, n in 0:77", "static"),  # the last tile is shorter
        ("m in 0:M, n in m:N", "dynamic"),
        ("m in 0:M, n in 0:(m + 1)", "dynamic"),
    ],
)
def test_threads_get_equal_parts_at_once_and_unequal_ones_as_they_come(where: str, kind: str) -> None:
    """Blocks begin elsewhere in each part, which makes none longer; rows of a triangle are."""
    of = f"def f(float(M,N) A) -> (B) {{ B(m,n) = 2 * A(m,n) {f'where {where}' if where else ''} }}"
    schedule = wb.schedule(wb.operator(of), M=96, N=96) | wb.tile(m=16, n=16) | wb.parallelize("m_o")
    pragmas = [x.strip() for x in wb.generate(schedule, AVX2).source.splitlines() if "#pragma omp parallel" in x]
    assert [x.endswith(f"schedule({kind})") for x in pragmas] == [True], pragmas


@pytest.mark.parametrize(("loops", "said"), [("m", "1 parallel loop (openmp)"), ("mn", "2 parallel loops (openmp)")])
def test_what_became_of_the_loops_is_counted_in_words(loops: str, said: str) -> None:
    text = "def twice(float(M) X, float(N) Z) -> (A, B) { A(m) = 2 * X(m)  B(n) = 3 * Z(n) }"
    s = wb.schedule(wb.operator(text), M=9, N=8)
    for name in loops:
        s |= wb.parallelize(name)
    assert wb.generate(s, AVX2).notes[0] == said


def test_a_serial_target_has_neither() -> None:
    source = wb.generate(scheduled("matmul", symbolic=True), Target(vector_bits=256, parallel="serial")).source
    assert "#pragma omp" not in source
    assert "wb_parallel_for" not in source


def test_loops_keep_the_names_of_the_schedule() -> None:
    source = wb.generate(scheduled("matmul", symbolic=True), AVX2).source
    loops = set(re.findall(r"for \(int64_t (\w+) =", source))
    assert {"m_o", "n_o", "k_o", "m_i", "n_i", "k_i"} <= loops


def test_unknown_targets_and_illegal_schedules_are_refused() -> None:
    schedule = wb.schedule(wb.operator(EVERY["seidel"][0]))
    with pytest.raises(CodegenError, match="unknown target 'fortran'; known: c"):
        wb.generate(schedule, "fortran")
    backwards = wb.schedules.steps.Interchange("A.1/j", "A.1/t").on(schedule)
    with pytest.raises(IllegalSchedule, match="no code for an illegal schedule"):
        wb.generate(backwards, "c")
    with pytest.raises(IllegalSchedule):
        schedule | affine(backwards.tree)
