"""Kernels for ARM, executed by an emulator and compared with the oracle."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import workbench as wb
from tests.small_sizes import small_sizes
from tests.support import PROFILE
from workbench.errors import BuildError, CodegenError
from workbench.ops import sample_arrays, sample_out
from workbench.runtime.emulation import cross_execution as elsewhere
from workbench.target import Target

_SAMPLE = """matmul_int8 softmax bias_gelu argmax conv2d transpose jacobi_2d matmul_bf16
layer_norm cumsum embedding tmm matmul_fp16 histogram quantise"""
SAMPLE = _SAMPLE.split()
ALL = PROFILE == "full"
MACHINES = {
    "neon": wb.ops.list() if ALL else SAMPLE,
    "sve512": wb.ops.list() if ALL else SAMPLE[:8],
    "sve256": wb.ops.list() if ALL else SAMPLE[:4],
}
ERROR = wb.operator("def f(float(N) X) -> (E, T) { E(i) = erf(X(i))\n T(i) = tanh(X(i)) * exp(X(i)) }")


@pytest.fixture(scope="module", autouse=True)
def emulator() -> None:
    try:
        elsewhere.emulation(sve=True)
    except BuildError:
        pytest.skip("install qemu-user, gcc-aarch64-linux-gnu and clang: kernels for ARM cannot be executed here")


@pytest.mark.parametrize(("machine", "name"), [(m, n) for m, names in MACHINES.items() for n in names])
def test_default_recipes_agree_with_the_oracle(machine, name):
    op = wb.ops.load(name)
    sizes = small_sizes(op)
    built = wb.build(wb.autoschedule(op, machine, sizes=sizes), machine, threads=2)
    arrays, out = sample_arrays(op, seed=3, **sizes), sample_out(op, seed=4, **sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = wb.verify(built, *arrays, out=out)
    assert found, found


@pytest.mark.parametrize("machine", ["neon", "sve256", "sve512"])
def test_one_kernel_for_all_sizes(machine):
    built = wb.build(wb.autoschedule(ERROR, machine), machine)
    for n in (1, 7, 33, 130):
        X = np.linspace(-6, 6, n).astype("float32")
        assert wb.verify(built, X)


@pytest.mark.parametrize("machine", ["neon", "sve512"])
def test_writes_past_the_caches(machine):
    rows = wb.schedule(wb.operator("def scale(float(M,N) X) -> (Y) { Y(m,n) = 2 * X(m,n) }"))
    built = wb.build(rows | wb.vectorize("n") | wb.parallelize("m") | wb.nontemporal("Y"), machine, threads=2)
    for columns in (64, 67):
        assert wb.verify(built, np.arange(5.0 * columns, dtype="float32").reshape(5, columns))


def test_an_index_out_of_range_is_told_as_anywhere():
    op = wb.ops.load("lookup")
    built = wb.build(wb.schedule(op), "neon")
    arrays = [np.array(a) for a in sample_arrays(op, **op.examples[-1])]
    (indices,) = [a for a in arrays if a.dtype.kind in "iu"]
    indices.flat[-1] = 10**6
    with pytest.raises(wb.errors.KernelError, match="out of range"):
        built(*arrays)


def test_registers_have_the_stated_length():
    """Lanes of SVE are those of the target: the text says so, and the compiler is told."""
    for machine, lanes in (("neon", 4), ("sve256", 8), ("sve512", 16)):
        target = Target(machine)
        source = wb.generate(wb.autoschedule(wb.ops.matmul, machine, M=64, N=64, K=64), machine).source
        assert max(int(n) for n in re.findall(r"wb_v(\d+)f32", source)) == lanes
        found = elsewhere.emulation(sve="sve" in target.isa)
        assert (f"-msve-vector-bits={32 * lanes}" in found.toolchain.flags(target)) == ("sve" in target.isa)


def test_text_for_another_machine_needs_neither_compiler_nor_emulator(monkeypatch):
    elsewhere.emulation.cache_clear()
    monkeypatch.setattr(elsewhere, "EMULATOR", "no-such-emulator")
    schedule = wb.autoschedule(wb.ops.matmul, "neon", M=64, N=64, K=64)
    assert "wb_v4f32" in wb.generate(schedule, "neon").source
    with pytest.raises(BuildError, match="install qemu-user"):
        wb.build(schedule, "neon")
    elsewhere.emulation.cache_clear()


def test_compilers_that_get_masks_of_short_vectors_wrong_are_refused():
    """`(a < b) & (b < c)` of 8 lanes where a register has 16."""
    wrong = elsewhere.emulation().toolchain
    with pytest.raises(BuildError, match="masks of short SVE vectors"):
        wrong.flags(Target("sve512"))


def test_an_unknown_machine_is_refused_with_the_known_ones():
    with pytest.raises(CodegenError, match=r"unknown target 'risc'; known: c, .*neon, .*sve512"):
        wb.build(wb.schedule(wb.ops.matmul), "risc")
