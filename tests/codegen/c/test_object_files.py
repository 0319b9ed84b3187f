"""What compilers make of hot loops, for processors that need not be here: whole registers, sums that stay in them."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from workbench.errors import BuildError
from workbench.runtime.compilers.toolchain import GCC, LANGUAGE, OPTIMISE, WIDE_VECTORS
from workbench.runtime.emulation.cross_execution import SVE_FLAGS, emulation
from workbench.runtime.measuring.machine_code import functions_of
from workbench.runtime.measuring.machine_loops import MachineLoop, innermost_loops
from workbench.schedules.analysis.blocking import shapes
from workbench.schedules.recipes.products import product_blocks
from workbench.target import Target

SIZES = {
    "matmul": {"M": 512, "N": 512, "K": 512},
    "tmm": {"M": 128, "N": 1024, "K": 1024},
    "conv2d": {"N": 1, "C": 64, "H": 56, "W": 56, "F": 64, "KH": 3, "KW": 3, "stride": 1, "pad": 1, "dilation": 1},
    "matmul_int8": {"M": 512, "N": 512, "K": 512},
    "layer_norm": {"M": 4096, "N": 1024},
    "softmax": {"M": 4096, "N": 1024},
    "argmax": {"M": 1024, "N": 1024},
    "bias_gelu": {"M": 1024, "N": 1024},
}
TILES = ("matmul", "tmm", "conv2d", "matmul_int8", "layer_norm")
BESIDE = 2  # moves of constants, or of copies for after the loop, that an allocator may leave in the others


def compiled(name: str, machine: str, command: tuple[str, ...], flags: tuple[str, ...], folder: Path) -> Path:
    """The object file of the default recipe."""
    target = replace(Target(machine), parallel="serial")
    schedule = wb.autoschedule(wb.ops.load(name), target, sizes=SIZES[name])
    (folder / "k.c").write_text(wb.generate(schedule, target).source, encoding="utf-8")
    language = [f for f in LANGUAGE if f not in ("-shared", "-fPIC")]
    line = [*command, *OPTIMISE, *language, *flags, f"-march={target.march}", "-c", "k.c"]
    subprocess.run(line, cwd=folder, check=True)
    return folder / "k.o"


def hottest(loops: tuple[MachineLoop, ...]) -> MachineLoop:
    """The loop with the most arithmetic in one iteration."""
    return max(loops, key=lambda x: (2 * x.fused + x.others) * x.bits)


@pytest.mark.parametrize("machine", ["avx2", "avx512"])
@pytest.mark.parametrize("name", SIZES)
def test_hot_loops_of_x86(name, machine, compilers, tmp_path):
    if "gcc" not in compilers or shutil.which("objdump") is None:
        pytest.skip("install gcc and binutils: machine code cannot be made or read")
    wide = (WIDE_VECTORS,) if machine == "avx512" else ()
    file = compiled(name, machine, compilers["gcc"], (*GCC, *wide), tmp_path)
    dump = ["objdump", "-d", "--no-show-raw-insn", "-M", "intel", str(file)]
    listing = subprocess.run(dump, capture_output=True, text=True, check=True).stdout
    loop = hottest(innermost_loops(functions_of(listing)))
    assert loop.bits == Target(machine).vector_bits, loop.text
    assert loop.vectorised, loop.text
    assert loop.spills <= (0 if name in TILES else BESIDE), loop.text


def every_shape(*machines: str) -> list[tuple[str, tuple[int, int]]]:
    return [(machine, shape) for machine in machines for shape in shapes(Target(machine))]


@pytest.mark.parametrize(("machine", "shape"), every_shape("avx2", "avx512"))
def test_tiles_of_every_shape_stay_in_the_registers_of_x86(machine, shape, compilers, tmp_path, monkeypatch):
    monkeypatch.setattr(product_blocks, "shapes", lambda target: [shape])
    test_hot_loops_of_x86("matmul", machine, compilers, tmp_path)


LINE = re.compile(r"^\s*([0-9a-f]+):\t(\S+)(?:\s+(.*))?$")
BRANCH = re.compile(r"\b([0-9a-f]+) <")


def arm_loops(listing: str) -> list[list[str]]:
    """The innermost loops: from the target of a branch backwards to the branch, with no other such inside."""
    found = [(int(m[1], 16), m[2], m[3] or "") for m in map(LINE.match, listing.splitlines()) if m]
    jumps = [(x, int(t[1], 16)) for x, name, rest in found if name[0] in "bct" and (t := BRANCH.search(rest))]
    back = [(to, x) for x, to in jumps if to <= x and x - to < 1 << 14]
    inner = [(a, b) for a, b in back if not any((c, d) != (a, b) and a <= c and d <= b for c, d in back)]
    return [[f"{name} {rest}" for x, name, rest in found if a <= x <= b] for a, b in inner]


@pytest.mark.parametrize(("machine", "fused"), [("neon", r"fmla\s+v\d+\.4s"), ("sve512", r"fm(la|ad)\s+z\d+\.s")])
@pytest.mark.parametrize("name", ["matmul", "conv2d", "bias_gelu"])
def test_hot_loops_of_arm(name, machine, fused, tmp_path):
    sve = machine.startswith("sve")
    try:
        found = emulation(sve=sve)
    except BuildError:
        pytest.skip("install qemu-user, gcc-aarch64-linux-gnu and clang: nothing compiles for ARM here")
    flags = (f"-msve-vector-bits={Target(machine).vector_bits}", *SVE_FLAGS) if sve else GCC
    file = compiled(name, machine, found.toolchain.command, flags, tmp_path)
    dump = ["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", str(file)]
    loops = arm_loops(subprocess.run(dump, capture_output=True, text=True, check=True).stdout)
    loop = max(loops, key=lambda lines: sum(bool(re.match(fused, x)) for x in lines))
    assert sum(bool(re.match(fused, x)) for x in loop) >= (12 if name in TILES else 6), "\n".join(loop)
    moved = "(ld|st)" if name in TILES else "st"  # constants of a polynomial may be read from the stack
    frame = "sp" if any(re.match(r"add\s+x29,", x) for x in loop) else "sp|x29"  # else a pointer like others
    spilt = [x for x in loop if re.match(rf"{moved}\w*\s+\{{?[qdz]\d", x) and re.search(rf"\[({frame})\b", x)]
    assert not spilt, "\n".join(loop)


@pytest.mark.parametrize(("machine", "shape"), every_shape("neon", "sve512"))
def test_tiles_of_every_shape_stay_in_the_registers_of_arm(machine, shape, tmp_path, monkeypatch):
    monkeypatch.setattr(product_blocks, "shapes", lambda target: [shape])
    fused = r"fm(la|ad)\s+z\d+\.s" if machine.startswith("sve") else r"fmla\s+v\d+\.4s"
    test_hot_loops_of_arm("matmul", machine, fused, tmp_path)
