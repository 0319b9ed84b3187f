"""Instructions for products of 8- and 16-bit numbers: executed here, under an emulator of ARM, or lane by lane."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.support import PROFILE
from workbench.errors import BuildError, ScheduleError
from workbench.lang.dtypes import DTYPES
from workbench.runtime import this_machine
from workbench.runtime.elsewhere import emulation
from workbench.schedules.products import INSTRUCTIONS, instruction_for, product_kernel
from workbench.target import Target

EMULATED = (Path(__file__).parent / "emulated_intrinsics.h").read_text(encoding="utf-8")
PAIRS = [(own, pair) for own in INSTRUCTIONS for pair in own.operands[:: 1 if PROFILE == "full" else 3]]
X86 = [(own, pair) for own, pair in PAIRS if own.isa[0].startswith(("a", "f"))]
MACHINES = {
    "amx_tile": "amx", "avx512_vnni": "avx512_vnni", "avx512_bf16": "avx512_vnni", "avx512bw": "avx512",
    "avx512f": "avx512", "avx_vnni": "avx_vnni", "avx2": "avx2", "i8mm": "neon_dot", "bf16": "neon_dot",
    "dotprod": "neon_dot", "neon": "neon_dot",
}  # fmt: skip
MNEMONICS = {
    "wb_amx_ss": "tdpbssd", "wb_amx_us": "tdpbusd", "wb_amx_su": "tdpbsud", "wb_amx_uu": "tdpbuud",
    "wb_amx_bf16": "tdpbf16ps", "wb_vnni512_us": "vpdpbusd", "wb_vnni512_ss": "vpdpbusd", "wb_vnni512": "vpdpwssd",
    "wb_bf16_512": "vdpbf16ps", "wb_madd512": "vpmaddwd", "wb_vnni256_us": "vpdpbusd", "wb_vnni256_ss": "vpdpbusd",
    "wb_vnni256": "vpdpwssd", "wb_madd256": "vpmaddwd", "wb_smmla": "smmla", "wb_usmmla": "usmmla",
    "wb_ummla": "ummla", "wb_bfmmla": "bfmmla", "wb_sdot": "sdot", "wb_udot": "udot", "wb_usdot": "usdot",
    "wb_bfdot": "bfdot", "wb_widened_avx512f_512": "vfmadd", "wb_widened_avx2_256": "vfmadd",
    "wb_widened_neon_128": "fmla",
}  # fmt: skip


def case_name(value):
    return getattr(value, "name", None) or "-".join(value)


def product(own, pair, text="", **sizes):
    """A schedule in which the instruction does everything, and its operator."""
    a, b = (f"{own.result}({x})" for x in ("A(m,k)", "B(k,n)"))
    op = wb.operator(text or f"def f({pair[0]}(M,K) A, {pair[1]}(K,N) B) -> (C) {{ C(m,n) +=! {a} * {b} }}")
    schedule = wb.schedule(op, **sizes) | wb.decompose_reduction("C")
    return op, schedule | wb.interchange("C/m", "C/n", "C/k") | wb.replace("C/m", product_kernel(own, *pair).name)


def numbers(name, shape, seed):
    """Integers of the whole range with its ends, floats of both signs."""
    random, dtype = np.random.default_rng(seed), DTYPES[name].numpy
    if DTYPES[name].is_float:
        return random.standard_normal(shape).astype("float32").astype(dtype)
    ends = np.iinfo(dtype)
    found = random.integers(ends.min, ends.max + 1, shape).astype(dtype)
    found[0], found[-1] = ends.min, ends.max
    return found


def assert_right(built, op, pair, sizes):
    m, n, k = (sizes[x] for x in "MNK")
    arrays = numbers(pair[0], (m, k), 1), numbers(pair[1], (k, n), 2)
    found = wb.verify(built, *arrays)
    assert found, found
    if not any(DTYPES[x].is_float for x in pair):
        np.testing.assert_array_equal(built(*arrays), arrays[0].astype("int32") @ arrays[1].astype("int32"))


AWKWARD = ({"M": 35, "N": 53, "K": 67}, {"M": 1, "N": 1, "K": 1}, {"M": 67, "N": 99, "K": 530})


@pytest.mark.parametrize(("own", "pair"), X86, ids=case_name)
def test_what_x86_has_lane_by_lane(own, pair):
    """The text around every instruction, with what the instruction does written out."""
    for sizes in AWKWARD if PROFILE == "full" else AWKWARD[-1:]:
        op, schedule = product(own, pair, **sizes)
        kernel = wb.generate(schedule, MACHINES[own.isa[0]])
        if own.isa != ("avx2",):
            source = kernel.source.replace("#include <immintrin.h>", EMULATED)
            kernel = replace(kernel, source=source, target=this_machine(), needs=())
        elif "avx2" not in this_machine().isa:
            pytest.skip("install a processor with AVX2: this one has other instructions")
        assert_right(wb.build(kernel, threads=1, debug=own.isa != ("avx2",)), op, pair, sizes)


@pytest.mark.parametrize(("own", "pair"), [x for x in PAIRS if x not in X86 and x[0].isa != ("sve",)], ids=case_name)
def test_what_arm_has_under_an_emulator(own, pair):
    try:
        emulation()
    except BuildError:
        pytest.skip("install qemu-user and gcc-aarch64-linux-gnu: kernels for ARM cannot be executed here")
    for sizes in AWKWARD[-1:]:
        op, schedule = product(own, pair, **sizes)
        assert_right(wb.build(schedule, MACHINES[own.isa[0]]), op, pair, sizes)


@pytest.mark.parametrize("own", [x for x in INSTRUCTIONS if x.name in MNEMONICS], ids=case_name)
def test_the_object_file_has_the_instruction_and_no_spills(own, tmp_path, compilers):
    """What no processor here executes is compiled, and read."""
    target = Target(MACHINES[own.isa[0]])
    if target.is_arm:
        try:
            command, objdump = emulation().toolchain.command, "aarch64-linux-gnu-objdump"
        except BuildError:
            pytest.skip("install qemu-user and gcc-aarch64-linux-gnu: nothing compiles for ARM here")
    else:
        if "gcc" not in compilers:
            pytest.skip("install gcc: this C compiler was not found")
        command, objdump = compilers["gcc"], "objdump"
    if shutil.which(objdump) is None:
        pytest.skip("install binutils: machine code cannot be read")
    _, schedule = product(own, own.operands[0], M=64, N=64, K=64)
    (tmp_path / "k.c").write_text(wb.generate(schedule, replace(target, parallel="serial")).source, encoding="utf-8")
    flags = ["-O3", "-ffp-contract=fast", "-fno-math-errno", "-fwrapv", "-fno-strict-aliasing", "-w"]
    subprocess.run([*command, *flags, f"-march={target.march}", "-c", "k.c"], cwd=tmp_path, check=True)
    listing = subprocess.run(
        [objdump, "-d", "--no-show-raw-insn", "k.o"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    lines = [x for x in listing.stdout.splitlines() if "\t" in x]
    at = [n for n, x in enumerate(lines) if re.search(rf"\t{MNEMONICS[own.name]}", x)]
    assert len(at) >= 4
    tile = lines[at[0] : at[min(len(at), own.rows * own.columns * 32 // (32 * 16)) - 1] + 1]
    assert not [x for x in tile if re.search(r"\(%rsp\)|\[sp", x) and re.search(r"[xyz]mm|\bq\d", x)], "\n".join(tile)


def test_every_instruction_is_looked_at():
    assert {x.name for x in INSTRUCTIONS if x.isa != ("sve",)} == set(MNEMONICS)


@pytest.mark.parametrize(
    ("machine", "kernel"),
    [("avx2", "wb_madd256"), ("avx512", "wb_madd512"), ("avx512_vnni", "wb_vnni512_ss"), ("amx", "wb_amx_ss"),
     ("avx_vnni", "wb_vnni256_ss"), ("neon_dot", "wb_smmla")],
)  # fmt: skip
def test_the_default_recipe_takes_what_the_machine_has(machine, kernel):
    text = str(wb.autoschedule(wb.ops.load("matmul_int8"), machine, M=64, N=64, K=64).steps())
    assert f"'{kernel}_i8_i8'" in text
    assert instruction_for("int8", "int8", "int32", Target("c")) is None
    assert "replace" not in str(wb.autoschedule(wb.ops.load("matmul_int8"), "neon", M=64, N=64, K=64).steps())


def test_convolutions_and_transposed_operands_are_products_too():
    conv = wb.operator(
        "def c(uint8(C,H,W) I, int8(F,C,R,S) K) -> (O) { O(f,y,x) +=! int32(I(c,y+r,x+s)) * int32(K(f,c,r,s)) }"
    )
    transposed = wb.operator("def t(bfloat16(K,M) A, bfloat16(N,K) B) -> (C) { C(m,n) +=! A(k,m) * B(n,k) }")
    batched = wb.operator(
        "def b(int8(B,M,K) X, uint8(B,K,N) Y) -> (C) { C(b,n,m) +=! int32(X(b,m,k)) * int32(Y(b,k,n)) }"
    )
    for op, sizes in (
        (conv, {"C": 33, "H": 6, "W": 47, "F": 37, "R": 3, "S": 2}),
        (transposed, {"M": 39, "N": 50, "K": 70}),
        (batched, {"B": 3, "M": 39, "N": 50, "K": 70}),
    ):
        schedule = wb.autoschedule(op, "avx2", sizes=sizes)
        assert "replace(" in str(schedule.steps())
        if "avx2" in this_machine().isa:
            assert wb.verify(wb.build(schedule, "avx2", threads=2), *wb.ops.sample_arrays(op, **sizes))


def test_a_processor_without_the_instruction_is_refused_it():
    own = next(x for x in INSTRUCTIONS if x.name == "wb_amx_ss")
    _, schedule = product(own, ("int8", "int8"), M=32, N=32, K=64)
    with pytest.raises(BuildError, match="need amx_tile, amx_int8"):
        wb.build(schedule, replace(Target("avx2"), name="mine"))


def test_names_are_found_without_a_machine():
    with pytest.raises(ScheduleError, match=r"unknown micro-kernel 'wb_madd256_i8'.*wb_madd256_i8_i8"):
        wb.schedule(wb.ops.load("matmul_int8")) | wb.replace("C/m", "wb_madd256_i8")
