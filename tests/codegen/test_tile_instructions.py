"""Products of 8- and 16-bit numbers whose schedules end in an instruction for tiles: AMX, matrix instructions of ARM.

Those of AMX are executed with what they do written out, those of ARM by an emulator; both are compiled and looked at.
"""

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
from workbench.lang import Operator
from workbench.runtime.emulation.cross_execution import Emulation, emulation
from workbench.schedules import Schedule
from workbench.schedules.kernels.tile_instructions import TileInstruction, tile_instructions
from workbench.target import Target

KNOWN = {x.name: x for x in tile_instructions()}
AMX = [x for x in KNOWN if x.startswith("wb_t")]
ARM = [x for x in KNOWN if x not in AMX]


def arm() -> Emulation:
    try:
        return emulation()
    except BuildError:
        pytest.skip("install qemu-user and gcc-aarch64-linux-gnu: kernels for ARM cannot be executed here")


def taken(name: str, form: str) -> tuple[Operator, dict[str, int], Schedule]:
    """A product in which the default recipe takes an instruction."""
    own = KNOWN[name]
    op = product(form, own.operands)
    sizes = sizes_of(op, form)
    schedule = wb.autoschedule(op, "amx" if name in AMX else "neon_dot", sizes=sizes)
    assert schedule.verdict
    assert f"'{name}')" in schedule.steps(), schedule.steps()
    return op, sizes, schedule


@pytest.mark.parametrize("form", [x for x in FORMS if x not in ("picture", "channels last")])
@pytest.mark.parametrize("name", AMX)
def test_products_by_amx(name, form):
    op, sizes, schedule = taken(name, form)
    kernel = written_out(schedule, "amx")
    assert f"{name}(&" in kernel.source
    assert_right(op, kernel, sizes)


@pytest.mark.parametrize("form", ["picture", "channels last"])
@pytest.mark.parametrize("name", ["wb_tdpbssd", "wb_tdpbf16ps"])
def test_sums_over_windows_by_amx(name, form):
    op, sizes, schedule = taken(name, form)
    kernel = written_out(schedule, "amx")
    assert f"{name}(&" in kernel.source
    assert_right(op, kernel, sizes)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["plain", "rows", "picture"])
@pytest.mark.parametrize("name", ARM)
def test_products_by_the_matrix_instructions_of_arm(name, form):
    arm()
    op, sizes, schedule = taken(name, form)
    assert_right(op, wb.build(schedule, "neon_dot"), sizes)


SIZES = st.tuples(st.integers(1, 70), st.integers(1, 70), st.integers(1, 150))


def by_hand(own: TileInstruction, sizes: tuple[int, int, int], tile: tuple[int, int], form: str, *, packed: bool):
    """Tiles of any size, of operands that are packed or lie as they lie."""
    op, (m, n, k), group = product(form, own.operands), sizes, own.group
    s = wb.schedule(op, M=m, N=n, K=k) | wb.decompose_reduction("C") | wb.tile({"C/m": tile[0], "C/n": tile[1]})
    s = s | wb.split("C/k", group)
    if packed:
        for array, dims, layout in (("A", "m, k", f"m, k / {group}, k % {group}"),
                                    ("B", "k, n", f"k / {group}, n, k % {group}")):  # fmt: skip
            s = s | wb.stage(array, "C/n_o") | wb.transform_layout(f"{array}_local", f"({dims}) -> ({layout})")
        s = s | wb.pad("C/k_o") if k > group and k % group else s
    return op, s | wb.replace("C/m_i", own.name)


@given(st.sampled_from(AMX), SIZES, st.tuples(st.integers(1, 40), st.integers(1, 40)), st.booleans())
@settings(max_examples=examples(quick=4, ci=10, full=200))
def test_any_tile_of_any_product(name, sizes, tile, packed):
    """Operands that do not lie in the instruction's order are multiplied by loops."""
    op, s = by_hand(KNOWN[name], sizes, tile, "plain", packed=packed)
    assert_right(op, written_out(s, "amx"), dict(zip("MNK", sizes, strict=True)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ARM)
def test_any_tile_on_arm(name):
    arm()
    for sizes, tile in (((9, 21, 43), (9, 20)), ((1, 1, 1), (8, 8)), ((17, 8, 16), (5, 3))):
        op, s = by_hand(KNOWN[name], sizes, tile, "plain", packed=True)
        assert_right(op, wb.build(s, "neon_dot"), dict(zip("MNK", sizes, strict=True)))


MNEMONIC = {"wb_usmmla": "usmmla", "wb_bfmmla": "bfmmla"}


@pytest.mark.parametrize("name", KNOWN)
def test_the_object_file_has_the_instruction_and_no_spills(name, tmp_path, compilers):
    """What no processor here executes is compiled, and read: the sums stay in tiles and registers."""
    _, _, schedule = taken(name, "plain")
    target = Target("amx" if name in AMX else "neon_dot")
    command, objdump = compilers.get("gcc"), "objdump"
    if target.is_arm:
        command, objdump = arm().toolchain.command, "aarch64-linux-gnu-objdump"
    if command is None or shutil.which(objdump) is None:
        pytest.skip("install gcc and binutils: machine code cannot be made or read")
    (tmp_path / "k.c").write_text(wb.generate(schedule, target).source, encoding="utf-8")
    flags = ["-O3", f"-march={target.march}", "-ffp-contract=fast", "-fwrapv", "-fno-strict-aliasing", "-w", "-c"]
    subprocess.run([*command, *flags, "k.c"], cwd=tmp_path, check=True)
    dump = [objdump, "-d", "--no-show-raw-insn", "k.o"]
    lines = subprocess.run(dump, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    at = [n for n, x in enumerate(lines) if re.search(rf"\t{name.removeprefix('wb_')}\b", x)]
    assert len(at) >= (4 if name in AMX else 16)
    if name in ARM:
        tile = lines[at[0] : at[15] + 1]
        assert not [x for x in tile if re.search(r"\[sp", x) and re.search(r"\b[qv]\d", x)], "\n".join(tile)


@pytest.mark.parametrize("name", ["wb_tdpbusd", "wb_bfmmla"])
def test_a_certificate_sees_inside(name):
    """Packing, padding and blocks are proved; what one tile adds up is trusted, and said."""
    _, _, schedule = taken(name, "plain")
    found = wb.certify(schedule, "amx" if name in AMX else "neon_dot")
    assert any(f"the micro-kernel {name} computes def {name}(" in x for x in found.assumed)


def test_the_trace_touches_every_operand():
    """After all rewrites the kernel touches what the loops touch, a tile contribution by contribution."""
    _, s = by_hand(KNOWN["wb_tdpbusd"], (3, 5, 8), (2, 4), "rows", packed=False)
    for after in (1, None):
        found = wb.trace_touches(s, "amx", after=after)
        reads = [(t.array, t.element) for t in found if t.array in ("A", "B") and t.kind == "read"]
        assert len(reads) == 2 * 3 * 5 * 8


def test_what_does_not_fit_is_refused():
    s = wb.schedule(product("plain", ("uint8", "int8")), M=8, N=16, K=8) | wb.decompose_reduction("C")
    with pytest.raises(ScheduleError, match="takes loops over rows, columns, groups of 4 contributions and a group"):
        s | wb.replace("C/m", "wb_tdpbusd")
    with pytest.raises(ScheduleError, match=r"C\.init is no sum"):
        s | wb.replace("C.init/m", "wb_tdpbusd")
    with pytest.raises(ScheduleError, match=r"C does not hold def wb_tdpbssd"):
        s | wb.split("C/k", 4) | wb.replace("C/m", "wb_tdpbssd")


def test_a_processor_without_the_instruction_is_refused_it():
    _, _, schedule = taken("wb_tdpbssd", "plain")
    with pytest.raises(BuildError, match="need amx_tile, amx_int8"):
        wb.build(schedule, replace(Target("avx2"), name="mine"))


def test_the_schedule_is_read_again_from_its_record():
    op, _, schedule = taken("wb_tdpbf16ps", "clipped")
    assert Schedule.from_json(op, schedule.to_json()) == schedule
