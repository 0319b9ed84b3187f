"""Instructions for products of 8- and 16-bit numbers: executed here, under an emulator of ARM, or lane by lane."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.codegen.product_cases import Case, assert_right, blocks, cases, unit
from workbench.codegen.cmath.helper import BASE
from workbench.errors import BuildError, ScheduleError
from workbench.runtime import this_machine
from workbench.runtime.emulation.cross_execution import emulation
from workbench.schedules.kernels.products import INSTRUCTIONS, instruction_for, product_kernel
from workbench.target import Target

EMULATED = (Path(__file__).parent / "emulated_intrinsics.h").read_text(encoding="utf-8")
FLAGS = ["-ffp-contract=fast", "-fno-math-errno", "-fwrapv", "-fno-strict-aliasing", "-w"]
MACHINES = {
    "avx512_vnni": "avx512_vnni", "avx512_bf16": "avx512_vnni", "avx512bw": "avx512", "avx512f": "avx512",
    "avx_vnni": "avx_vnni", "avx2": "avx2", "i8mm": "neon_dot", "bf16": "neon_dot", "dotprod": "neon_dot",
    "neon": "neon_dot",
}  # fmt: skip
MNEMONICS = {
    "wb_vnni512_us": "vpdpbusd", "wb_vnni512_ss": "vpdpbusd", "wb_vnni512": "vpdpwssd", "wb_bf16_512": "vdpbf16ps",
    "wb_madd512": "vpmaddwd", "wb_vnni256_us": "vpdpbusd", "wb_vnni256_ss": "vpdpbusd", "wb_vnni256": "vpdpwssd",
    "wb_madd256": "vpmaddwd", "wb_sdot": "sdot", "wb_udot": "udot", "wb_usdot": "usdot", "wb_bfdot": "bfdot",
    "wb_widened_avx512f_512": "vfmadd", "wb_widened_avx2_256": "vfmadd", "wb_widened_neon_128": "fmla",
}  # fmt: skip
PACKED_BY_LOOPS = ("wb_widened", "wb_madd")  # the other instructions stand nowhere but in a tile


def library(text: str, folder: Path, *flags: str) -> ctypes.CDLL:
    (folder / "k.c").write_text(text, encoding="utf-8")
    compiler = shutil.which("gcc") or pytest.skip("install gcc: this C compiler was not found")
    subprocess.run([compiler, *FLAGS, *flags, "-shared", "-fPIC", "k.c", "-o", "k.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "k.so"))


def called(handle: ctypes.CDLL, case: Case) -> None:
    for block in blocks(case):
        result = block.arrays[2].copy()
        arguments: list[object] = []
        for array, strides in zip((*block.arrays[:2], result), block.strides, strict=True):
            arguments += [ctypes.c_void_p(array.ctypes.data), *map(ctypes.c_int64, strides)]
        m, n, k = map(ctypes.c_int64, block.sizes)
        getattr(handle, case.name)(*arguments, m, k, n)
        assert_right(case, block, result)


@pytest.mark.slow
def test_every_instruction_of_x86_lane_by_lane(tmp_path):
    """The text around each instruction, with what the instruction does written out."""
    chosen = [c for c in cases(["avx"]) if c.own.isa != ("avx2",)]
    assert len(chosen) > 20
    text = unit(chosen).replace("#include <immintrin.h>\n", "")
    handle = library(text.replace(BASE.source, BASE.source + EMULATED), tmp_path)
    for case in chosen:
        called(handle, case)


@pytest.mark.slow
def test_the_instructions_of_this_machine_themselves(tmp_path):
    own = [c for c in cases(["avx"]) if {*c.own.isa} <= {*this_machine().isa}]
    if not own:
        pytest.skip("install a processor with AVX2: this one has other instructions")
    handle = library(unit(own), tmp_path, "-O2", "-march=native")
    for case in own:
        called(handle, case)


MAIN = """
#include <stdio.h>
/* Every call on its arrays: a file with all arrays, a file for all results. */
int main(int count, char **names) {
    static char a[1 << 20], b[1 << 20], c[1 << 20];
    FILE *in = fopen(names[1], "rb"), *out = fopen(names[2], "wb");
    if (count != 3 || !in || !out) return 1;
%s    return fclose(out) ? 3 : 0;
}
"""
READ = "    if (fread(a, 1, {0}, in) != {0} || fread(b, 1, {1}, in) != {1} || fread(c, 1, {2}, in) != {2}) return 2;\n"


@pytest.mark.slow
def test_every_instruction_of_arm_under_an_emulator(tmp_path):
    try:
        found = emulation()
    except BuildError:
        pytest.skip("install qemu-user and gcc-aarch64-linux-gnu: kernels for ARM cannot be executed here")
    chosen, calls, given = cases(["neon", "dotprod", "i8mm", "bf16"]), "", b""
    for case in chosen:
        for block in blocks(case):
            lengths = [x.nbytes for x in block.arrays]
            (a0, a1), (b0, b1), (c0, c1) = block.strides
            m, n, k = block.sizes
            calls += READ.format(*lengths)
            operands = f"(void *)a, {a0}, {a1}, (void *)b, {b0}, {b1}, (void *)c, {c0}, {c1}"
            calls += f"    {case.name}({operands}, {m}, {k}, {n});\n"
            calls += f"    fwrite(c, 1, {lengths[2]}, out);\n"
            given += b"".join(x.tobytes() for x in block.arrays)
    (tmp_path / "in").write_bytes(given)
    (tmp_path / "k.c").write_text(unit(chosen) + MAIN % calls, encoding="utf-8")
    target = Target("neon_dot")
    flags = [*FLAGS, f"-march={target.march}", "-static"]
    subprocess.run([*found.toolchain.command, *flags, "k.c", "-o", "k"], cwd=tmp_path, check=True)
    subprocess.run(found.command(tmp_path / "k", target, "in", "out"), cwd=tmp_path, check=True)
    answer = (tmp_path / "out").read_bytes()
    for case in chosen:
        for block in blocks(case):
            own = block.arrays[2]
            assert_right(case, block, np.frombuffer(answer[: own.nbytes], own.dtype).reshape(own.shape))
            answer = answer[own.nbytes :]
    assert not answer


@pytest.mark.parametrize("own", [x for x in INSTRUCTIONS if x.name in MNEMONICS], ids=lambda own: own.name)
def test_the_object_file_has_the_instruction_and_no_spills(own, tmp_path, compilers):
    """What no processor here executes is compiled, and read: the tile of sums stays in registers."""
    target = Target(MACHINES[own.isa[0]])
    command, objdump = compilers.get("gcc"), "objdump"
    if target.is_arm:
        try:
            command, objdump = emulation().toolchain.command, "aarch64-linux-gnu-objdump"
        except BuildError:
            pytest.skip("install qemu-user and gcc-aarch64-linux-gnu: nothing compiles for ARM here")
    if command is None or shutil.which(objdump) is None:
        pytest.skip("install gcc and binutils: machine code cannot be made or read")
    (tmp_path / "k.c").write_text(unit([Case(own, own.operands[0])]), encoding="utf-8")
    subprocess.run([*command, "-O3", *FLAGS, f"-march={target.march}", "-c", "k.c"], cwd=tmp_path, check=True)
    dump = [objdump, "-d", "--no-show-raw-insn", "k.o"]
    listing = subprocess.run(dump, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    there = [x for x in parts(listing) if any(re.search(rf"\t(\{{vex\}} )?{MNEMONICS[own.name]}", y) for y in x)]
    assert there
    for lines in there if not own.name.startswith(PACKED_BY_LOOPS) else []:
        at = [n for n, x in enumerate(lines) if re.search(rf"\t(\{{vex\}} )?{MNEMONICS[own.name]}", x)]
        tile = lines[at[0] : at[-1] + 1]
        spilt = [x for x in tile if re.search(r"\((%rsp|%rbp)\)|\[sp", x) and re.search(r"[xyz]mm|\b[qdv]\d", x)]
        assert not spilt, "\n".join(tile)
    most = max(sum(MNEMONICS[own.name] in x for x in lines) for lines in there)
    assert most >= own.rows * own.columns // own.tile.lanes


def parts(listing: list[str]) -> list[list[str]]:
    """The lines of each function."""
    begins = [n for n, x in enumerate(listing) if x.endswith(">:")]
    return [listing[a:b] for a, b in zip(begins, [*begins[1:], len(listing)], strict=True)]


def test_every_instruction_is_looked_at():
    assert {x.name for x in INSTRUCTIONS if x.isa != ("sve",)} == set(MNEMONICS)


@pytest.mark.parametrize(
    ("machine", "kernel"),
    [("avx2", "vpmaddwd"), ("avx512", "vpmaddwd_512"), ("avx512_vnni", "vpdpbusd_s8"),
     ("amx", "wb_tdpbssd"), ("avx_vnni", "vpdpbusd_s8_vex"), ("neon_dot", "wb_smmla")],
)  # fmt: skip
def test_the_default_recipe_takes_what_the_machine_has(machine, kernel):
    text = str(wb.autoschedule(wb.ops.load("matmul_int8"), machine, M=128, N=128, K=128).steps())
    assert f"'{kernel}'" in text
    assert instruction_for("int8", "int8", "int32", Target("c")) is None
    assert "replace" not in str(wb.autoschedule(wb.ops.load("matmul_int8"), "neon", M=128, N=128, K=128).steps())


CONVOLUTION = "def c(uint8(C,H,W) I, int8(F,C,R,S) K) -> (O) { O(f,y,x) +=! int32(I(c,y+r,x+s)) * int32(K(f,c,r,s)) }"
TRANSPOSED = "def t(bfloat16(K,M) A, bfloat16(N,K) B) -> (C) { C(m,n) +=! A(k,m) * B(n,k) }"
PICTURE = "def p(bfloat16(N,C,H,W) I, bfloat16(F,C,R,S) K) -> (O) { O(n,f,y,x) +=! I(n,c,y+r,x+s) * K(f,c,r,s) }"
STRIDED = "def s(int8(C,H,W) I, int8(F,C,R,S) K) -> (O) { O(f,y,x) +=! int32(I(c,2*y+r,2*x+s)) * int32(K(f,c,r,s)) }"
CHANNELS_LAST = "def l(int8(H,W,C) I, int8(R,S,C,F) K) -> (O) { O(y,x,f) +=! int32(I(y+r,x+s,c)) * int32(K(r,s,c,f)) }"
SIGNAL = "def w(uint8(C,W) I, int8(F,C,S) K) -> (O) { O(f,x) +=! int32(I(c,x+s)) * int32(K(f,c,s)) }"
CONTRACTION = "def t(float16(M,P,Q) A, float16(P,Q,Y,X) B) -> (C) { C(m,y,x) +=! A(m,p,q) * B(p,q,y,x) }"
VECTOR = "def v(int8(M,K) A, uint8(K) x) -> (y) { y(m) +=! int32(A(m,k)) * int32(x(k)) }"
BATCHED = "def b(int8(B,M,K) X, uint8(B,K,N) Y) -> (C) { C(b,n,m) +=! int32(X(b,m,k)) * int32(Y(b,k,n)) }"


SHAPES = {
    "convolution": (CONVOLUTION, "c2k3", {"C": 33, "H": 6, "W": 47, "F": 37, "R": 3, "S": 2}),
    "pictures": (PICTURE, "c2k3", {"N": 3, "C": 17, "H": 12, "W": 12, "F": 40, "R": 3, "S": 3}),
    "pointwise": (PICTURE, "c2k1", {"N": 1, "C": 300, "H": 9, "W": 9, "F": 40, "R": 1, "S": 1}),
    "strided": (STRIDED, "c1k3", {"C": 20, "H": 31, "W": 31, "F": 33, "R": 3, "S": 3}),
    "channels last": (CHANNELS_LAST, "c1k3", {"C": 20, "H": 15, "W": 13, "F": 33, "R": 3, "S": 3}),
    "signal": (SIGNAL, "c1k2", {"C": 33, "W": 100, "F": 33, "S": 5}),
    "contraction": (CONTRACTION, "c2k2", {"M": 30, "P": 9, "Q": 13, "Y": 10, "X": 11}),
    "vector": (VECTOR, "c1k1r0", {"M": 301, "K": 200}),
    "one row": (BATCHED, "c1k1r0", {"B": 2, "M": 1, "N": 301, "K": 200}),
    "transposed": (TRANSPOSED, "", {"M": 39, "N": 50, "K": 70}),
    "transposed and deep": (TRANSPOSED, "", {"M": 500, "N": 17, "K": 1070}),
    "batched": (BATCHED, "", {"B": 3, "M": 19, "N": 50, "K": 70}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_convolutions_and_transposed_operands_are_products_too(shape):
    """Each in the form that has its loops, for registers of 256 bits, and on this machine with what it has."""
    text, form, sizes = SHAPES[shape]
    op = wb.operator(text)
    for machine in (Target("avx2"), this_machine()):
        schedule = wb.autoschedule(op, machine, sizes=sizes)
        assert "avx2" not in machine.isa or re.search(
            rf"replace\(.*_\w\w?\d+{'_' * bool(form)}{form}'", str(schedule.steps())
        )
        if {*machine.isa} <= {*this_machine().isa}:
            assert wb.verify(wb.build(schedule, machine, threads=2), *wb.ops.sample_arrays(op, **sizes))


def test_a_processor_without_the_instruction_is_refused_it():
    kernel = product_kernel(next(x for x in INSTRUCTIONS if x.name == "wb_vnni512_ss"), "int8", "int8")
    schedule = wb.schedule(wb.ops.load("matmul_int8"), M=32, N=32, K=64) | wb.decompose_reduction("C")
    schedule = schedule | wb.replace("C/m", kernel)
    with pytest.raises(BuildError, match="need avx512_vnni"):
        wb.build(schedule, replace(Target("avx2"), name="mine"))


def test_names_are_found_without_a_machine():
    with pytest.raises(ScheduleError, match=r"unknown micro-kernel 'wb_madd256_i8'.*wb_madd256_i8_i8"):
        wb.schedule(wb.ops.load("matmul_int8")) | wb.replace("C/m", "wb_madd256_i8")


def test_names_of_old_records_lead_to_the_same_product():
    schedule = wb.schedule(wb.ops.load("matmul_int8"), M=8, N=8, K=8) | wb.decompose_reduction("C")
    for name, now in (("wb_amx_ss_i8_i8", "wb_vnni512_ss_i8_i8"), ("wb_smmla_i8_i8", "wb_sdot_i8_i8")):
        assert f"{now}(&A" in wb.generate(schedule | wb.replace("C/m", name)).source


def test_a_certificate_says_that_the_text_of_an_instruction_is_trusted():
    found = wb.certify(wb.autoschedule(wb.ops.load("matmul_int8"), "avx2", M=20, N=64, K=64), "avx2")
    assert any("the micro-kernel wb_madd256_i8_i8 computes def product(" in x for x in found.assumed)
