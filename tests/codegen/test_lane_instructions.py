"""Products of 8- and 16-bit numbers whose schedules end in one instruction: here, lane by lane, on an emulated ARM."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.codegen.packed_products import FORMS, assert_right, product, sizes_of, written_out
from tests.support import examples
from workbench.errors import BuildError, ScheduleError
from workbench.runtime import this_machine
from workbench.runtime.emulation.cross_execution import emulation
from workbench.schedules import Schedule
from workbench.schedules.kernels.lane_instructions import lane_instructions
from workbench.target import Target

HALVES, SIGNED, MIXED = ("bfloat16", "bfloat16"), ("int8", "int8"), ("uint8", "int8")
CASES = {
    "vdpbf16ps": (HALVES, "avx512_vnni"), "vpdpbusd": (MIXED, "avx512_vnni"), "vpdpbusd_s8": (SIGNED, "avx512_vnni"),
    "vpdpwssd": (("uint8", "uint8"), "avx512_vnni"), "vpdpbusd_vex": (MIXED, "avx_vnni"),
    "vpdpbusd_s8_vex": (SIGNED, "avx_vnni"), "vpdpwssd_vex": (("uint8", "uint8"), "avx_vnni"),
    "vpmaddwd_512": (SIGNED, "avx512"), "vpmaddwd": (("int8", "uint8"), "avx2"),
}  # fmt: skip
"""Instruction → the operands for which the recipe of a processor takes it."""
WIDE = {"bfloat16": "avx2", "float16": "avx512"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CASES)
def test_products_by_an_instruction(name, form):
    """By the steps of the default recipe."""
    pair, machine = CASES[name]
    op = product(form, pair)
    sizes = sizes_of(op, form)
    schedule = wb.autoschedule(op, machine, sizes=sizes)
    assert schedule.verdict
    assert f"'{name}')" in schedule.steps()
    kernel = written_out(schedule, machine)
    assert f" wb_{name}_" in kernel.source
    assert_right(op, kernel, sizes)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", WIDE)
def test_products_of_halves_are_widened_where_they_are_packed(kind, form):
    op = product(form, (kind, kind))
    sizes = sizes_of(op, form)
    schedule = wb.autoschedule(op, WIDE[kind], sizes=sizes)
    assert schedule.steps().count("widen(") == 2
    assert_right(op, wb.build(schedule), sizes)


SIZES = st.tuples(st.integers(1, 40), st.integers(1, 50), st.integers(1, 21))
TILES = st.tuples(st.integers(1, 5), st.sampled_from([4, 16, 20, 32, 48]))


@given(st.sampled_from(["vdpbf16ps", "vpdpbusd", "vpdpbusd_s8"]), SIZES, TILES, st.booleans())
@settings(max_examples=examples(quick=4, ci=10, full=200))
def test_any_tile_of_any_product(name, cells, tile, packed):
    """A schedule by hand: operands that do not lie in the instruction's order are multiplied by the loop."""
    (pair, machine), (m, n, k) = CASES[name], cells
    op = product("plain", pair)
    sizes, group = dict(M=m, N=n, K=k), 2 if name == "vdpbf16ps" else 4
    s = wb.schedule(op, sizes=sizes) | wb.decompose_reduction("C") | wb.tile(m=tile[0], n=tile[1], k=group)
    if packed:
        for array, layout in (("A", f"(m, k) -> (m, k / {group}, k % {group})"),
                              ("B", f"(k, n) -> (k / {group}, n, k % {group})")):  # fmt: skip
            s = s | wb.stage(array, "C/n_o") | wb.transform_layout(f"{array}_local", layout)
    s = s | wb.unroll("C/m_i") | wb.vectorize("C/n_i") | wb.replace("C/k_i", name)
    assert_right(op, written_out(s, machine), sizes)


def test_this_machine_itself():
    own = [n for n in CASES for x in lane_instructions() if x.name == n and {*x.isa} <= {*this_machine().isa}]
    if not own:
        pytest.skip("install a processor with AVX2: this one has other instructions")
    for name in own:
        op, sizes = product("plain", CASES[name][0]), {"M": 130, "N": 100, "K": 333}
        schedule = wb.autoschedule(op, this_machine(), sizes=sizes)
        for threads in (1, 2):
            assert_right(op, wb.build(schedule, threads=threads), sizes)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sdot", "udot", "usdot", "bfdot"])
def test_the_dot_products_of_arm_under_an_emulator(name):
    """By hand, as the default recipe of such a processor takes its matrix instructions."""
    try:
        emulation()
    except BuildError:
        pytest.skip("install qemu-user and gcc-aarch64-linux-gnu: kernels for ARM cannot be executed here")
    own = next(x for x in lane_instructions() if x.name == name)
    op, sizes, group = product("plain", own.operands), dict(M=9, N=14, K=23), own.group
    s = wb.schedule(op, sizes=sizes) | wb.decompose_reduction("C") | wb.tile(m=4, n=8, k=group)
    s = s | wb.reorder("C/m_o", "C/n_o", "C/m_i", "C/n_i", "C/k_o", "C/k_i")
    for array, layout in (("A", f"(m, k) -> (m, k / {group}, k % {group})"),
                          ("B", f"(k, n) -> (k / {group}, n, k % {group})")):  # fmt: skip
        s = s | wb.stage(array, "C/n_o") | wb.transform_layout(f"{array}_local", layout)
    s = s | wb.pad("C/k_o") | wb.reorder("C/k_o", "C/m_i", "C/n_i", "C/k_i")
    s = s | wb.unroll("C/m_i") | wb.vectorize("C/n_i") | wb.replace("C/k_i", name)
    kernel = wb.build(s, "neon_dot")
    assert f"wb_{name}_4(" in kernel.source
    assert_right(op, kernel, sizes)


MNEMONICS = {"vdpbf16ps": "vdpbf16ps", "vpdpbusd": "vpdpbusd", "vpdpbusd_s8": "vpdpbusd", "vpdpwssd": "vpdpwssd"}


@pytest.mark.parametrize("name", MNEMONICS)
def test_the_object_file_has_the_instruction_and_no_spills(name, tmp_path, compilers):
    command = compilers.get("gcc")
    if command is None or shutil.which("objdump") is None:
        pytest.skip("install gcc and binutils: machine code cannot be made or read")
    schedule = wb.autoschedule(product("plain", CASES[name][0]), "avx512_vnni", M=512, N=512, K=512)
    (tmp_path / "k.c").write_text(wb.generate(schedule, "avx512_vnni").source, encoding="utf-8")
    flags = ["-O3", "-march=cooperlake", "-ffp-contract=fast", "-fwrapv", "-fno-strict-aliasing", "-w", "-c"]
    subprocess.run([*command, *flags, "k.c"], cwd=tmp_path, check=True)
    dump = ["objdump", "-d", "--no-show-raw-insn", "k.o"]
    lines = subprocess.run(dump, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    at = [n for n, x in enumerate(lines) if f"\t{MNEMONICS[name]}" in x]
    runs, start = [], at[0]
    for here, there in zip(at, [*at[1:], len(lines) + 99], strict=True):
        if there - here > 8:
            runs.append((start, here))
            start = there
    first, last = max(runs, key=lambda run: sum(MNEMONICS[name] in x for x in lines[run[0] : run[1] + 1]))
    tile = lines[first : last + 1]
    assert sum(MNEMONICS[name] in x for x in tile) >= 24
    assert not [x for x in tile if re.search(r"\((%rsp|%rbp)\)", x) and "zmm" in x], "\n".join(tile)


@pytest.mark.parametrize("name", CASES)
def test_a_certificate_sees_inside(name):
    """Packing, padding and tiles are proved; what one instruction adds up is trusted, and said."""
    pair, machine = CASES[name]
    found = wb.certify(wb.autoschedule(product("plain", pair), machine, M=133, N=131, K=123), machine)
    assert any(f"the micro-kernel {name} computes def {name}(" in x for x in found.assumed)


def test_the_trace_touches_every_operand():
    """After all rewrites the kernel touches what the loops touch, an instruction contribution by contribution."""
    s = wb.schedule(product("plain", MIXED), M=3, N=5, K=8) | wb.decompose_reduction("C")
    s = s | wb.tile(n=16, k=4) | wb.vectorize("C/n_i")
    for after in (1, None):
        found = wb.trace_touches(s | wb.replace("C/k_i", "vpdpbusd"), "avx512_vnni", after=after)
        reads = [(t.array, t.element) for t in found if t.array in ("A", "B") and t.kind == "read"]
        assert len(reads) == 2 * 3 * 5 * 8


@pytest.mark.parametrize(
    ("loop", "name", "reason"),
    [
        ("C/k", "vpdpbusd", "takes a loop over so many contributions, innermost in a vector loop"),
        ("C/m", "vpdpbusd", "takes a loop over so many contributions, innermost in a vector loop"),
        ("C.init/m", "vpdpbusd", "C.init is no sum"),
    ],
)
def test_what_does_not_fit_is_refused(loop, name, reason):
    s = wb.schedule(product("plain", CASES[name][0]), M=8, N=16, K=8) | wb.decompose_reduction("C")
    with pytest.raises(ScheduleError, match=reason):
        s | wb.replace(loop, name)


def test_other_types_are_refused():
    s = wb.schedule(wb.ops.matmul, M=8, N=16, K=8) | wb.decompose_reduction("C") | wb.reorder("C/m", "C/k", "C/n")
    s = s | wb.tile({"C/k": 4}) | wb.reorder("C/k_o", "C/n", "C/k_i") | wb.vectorize("C/n")
    with pytest.raises(ScheduleError, match="C does not hold def vpdpbusd"):
        s | wb.replace("C/k_i", "vpdpbusd")


def test_a_processor_without_the_instruction_is_refused_it():
    schedule = wb.autoschedule(product("plain", HALVES), "avx512_vnni", M=64, N=64, K=64)
    with pytest.raises(BuildError, match="need avx512_bf16"):
        wb.build(schedule, replace(Target("avx2"), name="mine"))


def test_the_schedule_is_read_again_from_its_record():
    schedule = wb.autoschedule(product("plain", SIGNED), "avx512_vnni", M=133, N=131, K=123)
    assert Schedule.from_json(product("plain", SIGNED), schedule.to_json()) == schedule
