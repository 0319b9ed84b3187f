"""CUDA text compiles for two architectures, without a GPU and without warnings; what the compiler says is read back."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

import workbench as wb
from tests.gpu_schedules import HAND_MADE, bound, staged_matmul, symbolic_matmul
from tests.small_sizes import small_sizes
from tests.support import PROFILE
from workbench.codegen.kernel import Kernel
from workbench.errors import BuildError
from workbench.lang.builtins import BUILTINS
from workbench.runtime.compilers import gpu_compiling
from workbench.runtime.compilers.gpu_compiling import compiled_for, gpu_binary, gpu_resources
from workbench.runtime.compilers.nvrtc import nvrtc

ARCHITECTURES = ("sm_80", "sm_90")
needs_nvrtc = pytest.mark.skipif(nvrtc() is None, reason="install nvidia-cuda-nvrtc to compile CUDA text")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="install nvcc to compile CUDA text with it")
NAMES = wb.ops.list()


def compiles(kernel: Kernel, *architectures: str) -> None:
    for architecture in architectures:
        binary = gpu_binary(kernel, architecture)
        assert binary.cubin.startswith(b"\x7fELF")
        assert binary.warnings == ()


@needs_nvrtc
@pytest.mark.parametrize("name", NAMES)
def test_every_operator_compiles(name):
    op = wb.ops.load(name)
    kernel = wb.generate(bound(wb.schedule(op, sizes=small_sizes(op))), target="cuda")
    # Both are compiled in the full run; otherwise operators take turns.
    chosen = ARCHITECTURES if PROFILE == "full" else ARCHITECTURES[NAMES.index(name) % 2 :][:1]
    compiles(kernel, *chosen)


@needs_nvrtc
@pytest.mark.parametrize("name", HAND_MADE)
def test_hand_made_schedules_compile(name):
    compiles(wb.generate(HAND_MADE[name](), target="cuda"), *ARCHITECTURES)


TYPES = ["float", "double", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint64"]


def atomic_updates(dtype: str) -> wb.Schedule:
    """Every kind of update that threads may make at once, on one type."""
    lines = [f"C{n}(j) {reduction}=! A(i, j)" for n, reduction in enumerate(("+", "*", "min", "max"))]
    op = wb.operator(f"def f({dtype}(N,M) A) -> (C0, C1, C2, C3) {{ " + "\n".join(lines) + " }")
    s = wb.schedule(op, N=100, M=3)
    for n in range(4):
        s = s | wb.decompose_reduction(f"C{n}") | wb.atomic(f"C{n}") | wb.interchange(f"C{n}/i", f"C{n}/j")
        s = s | wb.bind(f"C{n}/i", "thread.x") | wb.bind(f"C{n}.init/j", "thread.x")
    return s


@needs_nvrtc
@pytest.mark.parametrize("dtype", TYPES)
def test_every_atomic_update_compiles(dtype):
    compiles(wb.generate(atomic_updates(dtype), target="cuda"), "sm_80")


@needs_nvrtc
@pytest.mark.parametrize("dtype", ["float", "double", "bfloat16"])
def test_every_function_compiles(dtype):
    terms = []
    for name, builtin in sorted(BUILTINS.items()):
        call = f"{name}({', '.join(['A(i)'] * builtin.arity)})"
        terms.append(f"({call} ? 1 : 0)" if builtin.is_test else call)
    op = wb.operator(f"def f({dtype}(N) A) -> (O) {{ O(i) = {' + '.join(terms)} }}")
    compiles(wb.generate(bound(wb.schedule(op, N=100)), target="cuda"), "sm_80")


@needs_nvrtc
def test_a_division_by_a_size_that_makes_it_zero_compiles_without_a_warning():
    """As the covariance of one row has it."""
    op = wb.operator("def f(float(N) A) -> (B) { B(i) = A(i) / (N - 1) }")
    kernel = wb.generate(bound(wb.schedule(op, N=1)), target="cuda")
    compiles(kernel, *ARCHITECTURES)
    assert "wb_fdivide_f32(A[0], (float)wb_sub_i32(1, 1))" in kernel.source


@needs_nvrtc
def test_resources_are_what_the_text_says():
    kernel = wb.generate(staged_matmul(2), target="cuda")
    resources = kernel.resources
    assert [k.name for k in resources.kernels] == ["matmul_C_init", "matmul_C"]
    tile = resources["matmul_C"]
    assert tile.threads == 256
    assert tile.shared_bytes == tile.static_shared_bytes == 2 * 2 * 16 * 16 * 4
    assert 16 <= tile.registers <= 255
    assert (tile.spill_store_bytes, tile.spill_load_bytes) == (0, 0)
    assert "matmul_C " in str(resources)
    with pytest.raises(BuildError, match="known: matmul_C_init, matmul_C"):
        resources["gemm"]


@needs_nvrtc
def test_a_thread_with_a_large_array_has_a_stack_frame():
    op = wb.operator("def f(float(N,M) A) -> (B) { B(i,j) = A(i, M - 1 - j) where j in 0:M }")
    s = wb.schedule(op, N=64, M=600) | wb.stage("A", "i") | wb.bind("i", "thread.x")
    assert wb.generate(s, target="cuda").resources["f"].stack_bytes >= 2400


@needs_nvrtc
def test_an_architecture_of_the_target_is_taken():
    target = replace(wb.codegen.as_target("cuda"), march="sm_90")
    assert wb.generate(symbolic_matmul(), target=target).resources.architecture == "sm_90"


@needs_nvrtc
def test_a_text_that_does_not_compile_says_why():
    with pytest.raises(BuildError, match=r"does not compile the text for sm_80:\n.*undeclared_thing"):
        compiled_for('extern "C" __global__ void f(float *a) { a[0] = undeclared_thing; }', "sm_80")


@needs_nvcc
def test_nvcc_says_the_same_as_the_library(monkeypatch):
    kernel = wb.generate(staged_matmul(3), target="cuda")
    monkeypatch.setattr(gpu_compiling, "nvrtc", lambda: None)
    resources = gpu_resources(replace(kernel, source=kernel.source + "\n"), "sm_80")
    assert resources.compiler == "nvcc"
    assert resources["matmul_C"].static_shared_bytes == 3 * 2 * 16 * 16 * 4


def test_without_a_compiler_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr(gpu_compiling, "nvrtc", lambda: None)
    monkeypatch.setattr(gpu_compiling.shutil, "which", lambda name: None)
    kernel = wb.generate(symbolic_matmul(), target="cuda")
    with pytest.raises(BuildError, match=r"no CUDA compiler is found for sm_80: pip install nvidia-cuda-nvrtc"):
        gpu_resources(replace(kernel, source=kernel.source + "// nowhere\n"))


def test_hip_and_c_have_no_resources():
    with pytest.raises(BuildError, match="is in hip: HIP is written as text only"):
        wb.generate(staged_matmul(), target="hip").resources
    with pytest.raises(BuildError, match="is in c: it is no text for a GPU"):
        wb.generate(staged_matmul(), target="c").resources


def test_an_unknown_architecture_is_refused():
    with pytest.raises(BuildError, match="unknown architecture 'volta'"):
        gpu_binary(wb.generate(staged_matmul(), target="cuda"), "volta")
