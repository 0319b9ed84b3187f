"""No compiler interchanges, divides or vectorises the loops of a kernel: its text alone says what is done when."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import workbench as wb
from workbench.runtime.compilers.job import Job
from workbench.runtime.compilers.probing import examined
from workbench.target import Target

SUM = "def total(double(M,N) A) -> (s) { s(n) +=! A(m,n) }"
SCALE = "def scale(float(N) A) -> (B) { B(i) = A(i) * 3 + 1 }"
CLEAR = "def clear(int32(N) A) -> (B) { B(i) = A(i) * 0 }"
FEW = "def four(float(N,4) A) -> (B) { B(i,j) = A(i,j) * 3 + 1 }"
# Instructions of x86 that compute with several numbers at a time; `movups` alone may be a copy of a struct.
PACKED = re.compile(r"\b[vp]*(add|sub|mul|min|max|fmadd\d+)(ps|pd|[bwdq])\b|\b(v|pv?)?p(add|mull)[bwdq]\b")


def machine_code(text: str, command: tuple[str, ...], target: Target, folder: Path) -> str:
    job = Job("kernel", text, examined(command), target, debug=False)
    (folder / "kernel.c").write_text(text, encoding="utf-8")
    flags = [f for f in job.flags if f != "-shared"]
    subprocess.run([*command, *flags, "-c", "kernel.c"], check=True, capture_output=True, cwd=folder)
    dump = ["objdump", "-dr", "--no-show-raw-insn", str(folder / "kernel.o")]
    return subprocess.run(dump, check=True, capture_output=True, text=True).stdout


def function(name: str, code: str) -> str:
    return re.search(rf"<{name}>:\n(.*?)\n\n", code + "\n\n", re.DOTALL)[1]  # type: ignore[index]


@pytest.mark.parametrize("text", [SUM, SCALE, FEW], ids=["sum", "scale", "four"])
def test_a_naive_kernel_computes_one_number_at_a_time(text: str, compiler: tuple[str, ...], tmp_path: Path) -> None:
    if shutil.which("objdump") is None:
        pytest.skip("install binutils: machine code cannot be read")
    target, op = Target("avx2"), wb.operator(text)
    found = function(op.name, machine_code(wb.generate(wb.schedule(op), target).source, compiler, target, tmp_path))
    assert not PACKED.search(found), PACKED.search(found)[0]  # type: ignore[index]


def test_a_loop_over_lanes_is_seen_by_the_same_eyes(compiler: tuple[str, ...], tmp_path: Path) -> None:
    if shutil.which("objdump") is None:
        pytest.skip("install binutils: machine code cannot be read")
    target, op = Target("avx2"), wb.operator(SCALE)
    text = wb.generate(wb.schedule(op) | wb.vectorize("B/i"), target).source
    assert PACKED.search(function(op.name, machine_code(text, compiler, target, tmp_path)))


def test_gcc_makes_no_call_of_a_loop(compilers: dict[str, tuple[str, ...]], tmp_path: Path) -> None:
    """`memset` in place of a loop is what passes that divide loops leave."""
    if shutil.which("objdump") is None or "gcc" not in compilers:
        pytest.skip("install gcc and binutils: machine code cannot be made or read")
    target, op = Target("avx2"), wb.operator(CLEAR)
    text = wb.generate(wb.schedule(op), target).source
    assert "memset" not in machine_code(text, compilers["gcc"], target, tmp_path)
