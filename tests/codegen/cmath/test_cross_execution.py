"""The C functions on other machines: executed for NEON and SVE by an emulator, read in the object file for AVX-512."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from mpmath import mpf

from tests.codegen.cmath.library import Array, Entry, source
from tests.codegen.cmath.reference import DOMAIN, EXACT, ulps
from workbench.codegen.cmath import ulp_bound
from workbench.errors import BuildError
from workbench.lang.dtypes import FLOAT32, FLOAT64, DType
from workbench.runtime.emulation.cross_execution import Emulation, emulation
from workbench.target import Target

_FUNCTIONS = """exp exp2 expm1 log log2 log1p tanh sigmoid
erf sqrt rsqrt sin cos pow"""
FUNCTIONS = _FUNCTIONS.split()
MACHINES = {"neon": 16, "sve256": 32, "sve512": 64}  # bytes of a register
_FLAGS = "-O2 -ffp-contract=fast -fno-math-errno -fno-trapping-math -fwrapv -std=gnu11 -w"
FLAGS = _FLAGS.split()
COUNT = 192

MAIN = """
#include <stdio.h>
#include <stdlib.h>
/* Every function on its arguments: a file with all arrays, a file for all results. */
int main(int count, char **names) {
    FILE *in = fopen(names[1], "rb"), *out = fopen(names[2], "wb");
    static char a[1 << 16], b[1 << 16], r[1 << 16];
    if (count != 3 || !in || !out) return 1;
%s    return fclose(out) ? 3 : 0;
}
"""
CALL = "    if (fread(a, {size}, {n}, in) != {n}{second}) return 2;\n    {call};\n    fwrite(r, {size}, {n}, out);\n"


def samples(function: str, dtype: DType) -> list[Array]:
    """As many arguments inside the function's domain as fill registers of every length."""
    random = np.random.default_rng(11)
    with np.errstate(all="ignore"):
        arrays = [np.resize(sampler(random, COUNT), COUNT).astype(dtype.numpy) for sampler in DOMAIN[function]]
    good = np.logical_and.reduce([np.isfinite(a) & (a != 0) for a in arrays])
    return [np.ascontiguousarray(np.resize(a[good], COUNT)) for a in arrays]


def program(found: Emulation, machine: str, entries: list[Entry], folder: Path) -> Path:
    """One program that computes every entry."""
    calls = ""
    for e in entries:
        two = len(e.parameters) == 2
        values = {"size": e.dtype.bytes, "n": COUNT}
        second = " || fread(b, {size}, {n}, in) != {n}".format(**values) if two else ""
        call = f"loop_{e.helper.name}({COUNT}, (void *)a, {'(void *)b, ' if two else ''}(void *)r)"
        calls += CALL.format(**values, second=second, call=call)
    (folder / "maths.c").write_text(source(entries) + MAIN % calls, encoding="utf-8")
    target = Target(machine)
    own = [f for f in found.toolchain.flags(target) if f.startswith("-m")]
    subprocess.run(
        [*found.toolchain.command, *FLAGS, *own, "-static", "maths.c", "-o", "maths", "-lm"], cwd=folder, check=True
    )
    return folder / "maths"


@pytest.fixture(scope="module", params=MACHINES)
def results(request, tmp_path_factory) -> dict[Entry, tuple[list[Array], Array]]:
    """Entry → its arguments and what it computes under the emulator."""
    machine, folder = request.param, tmp_path_factory.mktemp("maths")
    try:
        found = emulation(sve=machine.startswith("sve"))
    except BuildError:
        pytest.skip("install qemu-user, gcc-aarch64-linux-gnu and clang: ARM is not executed here")
    kinds = [(d, lanes) for d in (FLOAT32, FLOAT64) for lanes in (1, MACHINES[machine] // d.bytes)]
    entries = [Entry(f, d, lanes) for f in FUNCTIONS for d, lanes in kinds]
    arguments = {e: samples(e.function, e.dtype) for e in entries}
    (folder / "in").write_bytes(b"".join(a.tobytes() for e in entries for a in arguments[e]))
    command = found.command(program(found, machine, entries, folder), Target(machine), "in", "out")
    subprocess.run(command, cwd=folder, check=True)
    answer, taken = (folder / "out").read_bytes(), {}
    for e in entries:
        length = COUNT * e.dtype.bytes
        taken[e], answer = (arguments[e], np.frombuffer(answer[:length], e.dtype.numpy)), answer[length:]
    assert not answer
    return taken


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_error_and_bits_of_vectors(results, function, dtype):
    """The stated bound holds in every lane, and vectors give the bits of scalars."""
    mine = {e.lanes: v for e, v in results.items() if (e.function, e.dtype) == (function, dtype)}
    (_, (arguments, one)), (_, (_, many)) = sorted(mine.items())
    np.testing.assert_array_equal(one, many)
    bound = ulp_bound(function, dtype)
    assert bound is not None
    for got, *xs in zip(one[::2], *(a[::2] for a in arguments), strict=True):
        exact = EXACT[function](*(mpf(float(x)) for x in xs))
        assert ulps(got, exact, dtype) <= bound, xs


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
def test_avx512_computes_in_whole_registers(compilers, dtype, tmp_path):
    """Every loop over vectors works in zmm registers and calls nothing."""
    if "gcc" not in compilers or shutil.which("objdump") is None:
        pytest.skip("install gcc and binutils: machine code cannot be made or read")
    halved = ("sin", "cos", "pow") if dtype == FLOAT32 else ("pow",)  # in doubles, half the lanes at a time
    entries = [Entry(f, dtype, 64 // dtype.bytes) for f in FUNCTIONS if f not in halved]
    (tmp_path / "m.c").write_text(source(entries), encoding="utf-8")
    wide = ["-O3", "-march=skylake-avx512", "-mprefer-vector-width=512"]  # as kernels are compiled
    command = [*compilers["gcc"], *FLAGS, *wide, "-c", "m.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    dump = ["objdump", "-d", "-r", "--no-show-raw-insn", "m.o"]
    listing = subprocess.run(dump, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    for e in entries:
        body = listing.split(f"<loop_{e.helper.name}>:")[1].split("\n\n")[0]
        computing = re.findall(rf"\tv(?:add|sub|mul|div|sqrt|fn?m\w+?)p{'s' if dtype == FLOAT32 else 'd'} .*", body)
        assert len(re.findall("%zmm", "\n".join(computing))) > 0, e.function
        assert not [x for x in computing if "%zmm" not in x], e.function
        outside = [x for x in re.findall(r"\tcall .*<(\w+)>", body) if "cold" not in x and not x.startswith("wb_")]
        assert not outside or e.function in ("sin", "cos"), (e.function, outside)
