"""What a panel works out on request: other languages with links, bytes, warps, films, another operator text."""

from __future__ import annotations

import base64
import json
import os
import shutil

import pytest

import workbench as wb
from tests.viz.panels.test_panel import answer
from tests.viz.panels.values import SCHEDULES, schedule
from workbench.errors import WorkbenchError
from workbench.runtime.compilers.gpu_compiling import GpuBinary
from workbench.runtime.compilers.nvrtc import nvrtc
from workbench.schedules import Schedule
from workbench.viz.notebook.cell_checks import problems
from workbench.viz.panels.assumed import with_sizes
from workbench.viz.panels.code import assembly
from workbench.viz.panels.code.assembly import rows_of, sass_rows
from workbench.viz.panels.rewriting import checked_text

compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="install gcc or clang")


def on_a_gpu() -> Schedule:
    """A product whose loops are blocks and threads."""
    made = wb.schedule(wb.ops.matmul, M=64, N=64, K=32) | wb.tile(m=16, n=32)
    return made | wb.bind("m_o", "block.x") | wb.bind("m_i", "thread.y") | wb.bind("n_i", "thread.x")


@compiler
@pytest.mark.parametrize("name", SCHEDULES)
def test_each_statement_has_its_instructions(name):
    panel = wb.panel(schedule(name))
    assert "error" not in answer(panel, "view", name="assembly")
    lines = panel.views["assembly"]["lines"]
    known = {s.name for s in panel.schedule.program.statements}
    assert {s for line in lines for s in line["statements"]} <= known
    deepest = max(panel.schedule.program.statements, key=lambda s: len(s.dims))
    own = [line for line in lines if deepest.name in line["statements"]]
    assert own
    for line in own:
        made_from = panel.code["lines"][line["of"] - 1]
        assert line["statements"] == made_from["statements"]


def test_the_lines_of_assembly_know_their_source():
    text = '\t.file 1 "kernel.c"\nf:\n\t.loc 1 7 3\n\taddl %eax, %ebx\n.L2:\n\t.loc 1 9 1\n\tjne .L2\n.L9:\n'
    assert rows_of(text, "kernel.c") == (("f:", 0), ("        addl %eax, %ebx", 7), (".L2:", 0), ("        jne .L2", 9))
    assert rows_of(text.replace("kernel.c", "other.h"), "kernel.c")[1] == ("        addl %eax, %ebx", 0)


def test_cuda_stands_beside_c_with_the_same_loops():
    panel = wb.panel(on_a_gpu())
    answer(panel, "view", name="CUDA")
    lines = panel.views["CUDA"]["lines"]
    assert {line["loop"] for line in lines} - {""} == {loop["name"] for loop in walk(panel.tree)}
    bound = next(line for line in lines if line["loop"] == "m_o")
    assert "blockIdx.x" in "".join(run[0] for run in bound["runs"])
    assert bound["statements"] == ["C.init", "C"]


def walk(nodes):
    """The loops of a tree."""
    for node in nodes:
        if node["type"] == "loop":
            yield node
        yield from walk(node["children"])


@pytest.mark.skipif(nvrtc() is None, reason="install nvidia-cuda-nvrtc")
def test_ptx_is_linked_to_statements():
    panel = wb.panel(on_a_gpu())
    answer(panel, "view", name="PTX")
    assert any("fma" in line["runs"][0][0] and line["statements"] == ["C"] for line in panel.views["PTX"]["lines"])


SASS = """\t.section\t.text.matmul_C,"ax",@progbits
.text.matmul_C:
\t//## File "/tmp/x/kernel.cu", line 11
        /*0000*/                   MOV R1, c[0x0][0x28] ;
\t//## File "/usr/include/cuda_fp16.hpp", line 400
        /*0010*/                   FADD R2, R2, R3 ;
.L_x_0:
\t//## File "/tmp/x/kernel.cu", line 12 inlined at "/tmp/x/kernel.cu", line 40
        /*0020*/              @!P0 FFMA R2, R4, R5, R2 ;
        /*0030*/                   BRA `(.L_x_0) ;
.L_x_1:
"""


def test_machine_code_of_a_gpu_is_linked_to_its_source():
    assert sass_rows(SASS) == (
        ("matmul_C:", 0), ("    MOV R1, c[0x0][0x28] ;", 11), ("    FADD R2, R2, R3 ;", 0), (".L_x_0:", 0),
        ("    @!P0 FFMA R2, R4, R5, R2 ;", 12), ("    BRA `(.L_x_0) ;", 12),
    )  # fmt: skip


def test_a_disassembler_is_run_on_the_machine_code(tmp_path, monkeypatch):
    tool = tmp_path / "nvdisasm"
    tool.write_text(f"#!/bin/sh\ntest -s kernel.cubin && cat <<'END'\n{SASS}END\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(assembly, "gpu_binary", lambda kernel: GpuBinary("sm_90", b"machine code", "", "NVRTC 13"))
    panel = wb.panel(on_a_gpu())
    answer(panel, "view", name="SASS")
    found = panel.views["SASS"]
    assert found["notes"] == ["NVRTC 13, sm_90"]
    answer(panel, "view", name="CUDA")
    source = panel.views["CUDA"]["lines"][11]
    fma = next(line for line in found["lines"] if "FFMA" in line["runs"][0][0])
    assert (fma["of"], fma["statements"], fma["loop"]) == (12, source["statements"], source["loop"])


def test_without_a_disassembler_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(assembly, "_disassembler", lambda: None)
    panel = wb.panel(on_a_gpu())
    answer(panel, "view", name="SASS")
    assert "install the CUDA toolkit" in panel.views["SASS"]["reason"]
    assert panel.views["SASS"]["lines"] == []


def test_where_there_is_no_cuda_it_says_why():
    panel = wb.panel(schedule("stencil"))
    answer(panel, "view", name="CUDA")
    assert "bind(" in panel.views["CUDA"]["reason"]


@pytest.mark.parametrize("name", SCHEDULES)
def test_footprints_agree_with_the_picture(name):
    panel = wb.panel(schedule(name), target=wb.Target(cache_bytes=(1 << 12, 1 << 16, 0)))
    answer(panel, "view", name="footprint", given={"seconds": 30})
    told = panel.views["footprint"]
    base, _ = with_sizes(panel.schedule)
    assert base is not None
    shown = wb.viz.footprint(base, panel.target).data
    rows = [(r.name, r.footprint.held_bytes, r.footprint.moved_bytes) for r in shown.rows if hasattr(r, "footprint")]
    assert [(r["loop"], r["held"], r["moved"]) for r in told["rows"]] == rows
    for level in shown.levels:
        assert through(told, level.capacity) == level.moved_bytes


def through(told: dict, capacity: int) -> int:
    """The rule of the front end: the outermost iterations that fit are kept, the rest is touched anew."""
    inside, covered, total = [False] * len(told["rows"]), set(), 0
    for at, row in enumerate(told["rows"]):
        if row["parent"] >= 0 and inside[row["parent"]]:
            inside[at] = True
        elif row["held"] <= capacity:
            inside[at] = True
            covered |= set(row["statements"])
            total += row["moved"]
    return total + sum(amount for at, amount in enumerate(told["touches"]) if at not in covered)


def test_a_roofline_shows_the_way_that_was_taken():
    panel = wb.panel(schedule("matmul"))
    panel.apply(wb.tile(m=8, n=16))
    panel.apply(wb.interchange("n_o", "m_o"))
    answer(panel, "view", name="roofline")
    assert [p["name"] for p in panel.views["roofline"]["points"]] == [
        "naive", "tile(m=8, n=16)", "interchange('n_o', 'm_o')",
    ]  # fmt: skip
    assert {p["flops"] for p in panel.views["roofline"]["points"]} == {2 * 96 * 80 * 64}


def test_warps_say_what_their_lanes_touch():
    panel = wb.panel(on_a_gpu())
    answer(panel, "view", name="warps")
    accesses = panel.views["warps"]["accesses"]
    (b,) = [a for a in accesses if a["array"] == "B"]
    assert (b["worst"], b["efficiency"]) == (4, 1.0)
    assert b["lanes"] == [4 * lane + b["lanes"][0] for lane in range(32)]
    panel.schedule = panel.schedule.undo(2)
    answer(panel, "view", name="warps")
    assert "bind" in panel.views["warps"]["reason"]


def test_views_are_forgotten_after_a_step():
    panel = wb.panel(schedule("matmul"))
    answer(panel, "view", name="footprint")
    panel.apply(wb.parallelize("m"))
    assert panel.views == {}
    assert "assembly" in answer(panel, "view", name="picture")["error"]


def test_a_film_is_a_file():
    panel = wb.panel(schedule("triangular"), sizes={"M": 3, "N": 2})
    gif = answer(panel, "film", kind="gif")["result"]
    assert base64.b64decode(gif["data"]).startswith(b"GIF89a")
    assert gif["name"] == "trmm.gif"
    page = base64.b64decode(answer(panel, "film", kind="html")["result"]["data"])
    assert b"<script" in page
    assert "gif" in answer(panel, "film", kind="mp4")["error"]


# -- a machine --------------------------------------------------------------------------------------------------------


def test_wider_vectors_are_written_into_the_code():
    made = wb.schedule(wb.ops.matmul, M=64, N=64, K=64) | wb.split("n", 16) | wb.vectorize("n_i")
    panel = wb.panel(made, target=wb.Target(vector_bits=128))
    before = panel.code
    panel.machine = {**panel.machine, "vector_bits": 512}
    assert panel.target.vector_bits == 512
    assert panel.code != before
    panel.target = wb.Target(vector_bits=128)
    assert panel.code == before
    assert panel.machine["vector_bits"] == 128


def test_a_machine_that_cannot_be_is_refused():
    panel = wb.panel(schedule("matmul"))
    with pytest.raises(WorkbenchError, match="power of two"):
        panel.machine = {**panel.machine, "vector_bits": 100}
    with pytest.raises(WorkbenchError, match="vector_bits, cache_bytes"):
        panel.machine = {"caches": 3}
    with pytest.raises(WorkbenchError, match="dialect c"):
        panel.target = "h100"


# -- what a step would do ---------------------------------------------------------------------------------------------


def test_a_preview_shows_domain_and_loops_after_the_step_and_takes_nothing():
    panel = wb.panel(schedule("matmul"))
    told = answer(panel, "preview", step=wb.tile(m=4, n=4).to_json())["result"]
    after = wb.panel(panel.schedule | wb.tile(m=4, n=4))
    assert not panel.schedule.trace
    assert told["verdict"] == "legal"
    assert told["domain"] == after.domain
    assert told["tree"] == after.tree
    assert base64.b64decode(told["tables"]) == after.tables


def test_a_preview_of_an_illegal_step_shows_why_not():
    panel = wb.panel(schedule("stencil"))
    told = answer(panel, "preview", step=wb.interchange("A.1/j", "A.1/i").to_json())["result"]
    assert told["verdict"] == "illegal"
    assert panel.refusal["pairs"]
    assert not panel.schedule.trace


@pytest.mark.parametrize(("width", "legal"), [(2, False), (1, True)])
def test_a_gesture_is_judged_before_it_ends(width, legal):
    panel = wb.panel(schedule("stencil"))
    given = {"statement": "A.1", "x": "i", "y": "t", "width": width, "height": 2}
    assert answer(panel, "judge", name="tile", given=given)["result"]["legal"] is legal
    assert panel.refusal == {}


# -- the operator's text ----------------------------------------------------------------------------------------------


def test_errors_stand_at_their_tokens():
    text = "def f(float(N) A) -> (B) {\n    B(i) = A(i) + zz(i)\n}"
    (problem,) = checked_text(text)["problems"]
    line = text.splitlines()[problem["line"] - 1]
    assert line[problem["column"] - 1 : problem["column"] - 1 + problem["length"]] == "zz"
    assert "unknown tensor" in problem["message"]
    several = checked_text("def f(float(N) A) -> (B, C) { B(i) = A(i) + zz(i)\n C(i) = yy(i) }")["problems"]
    assert [p["line"] for p in several] == [1, 2]
    assert problems("something else") == [{"line": 1, "column": 1, "length": 1, "message": "something else", "fix": ""}]


def test_names_and_sizes_are_offered():
    names = {n["label"]: n["kind"] for n in checked_text("def f(float(Rows) A) -> (B) { B(i) = A(i) }")["names"]}
    assert (names["Rows"], names["float"], names["exp"]) == ("size", "type", "function")


def test_another_text_keeps_what_still_fits():
    panel = wb.panel(wb.schedule(wb.ops.matmul, M=16, N=16, K=16))
    panel.apply(wb.tile(m=4, n=4))
    panel.apply(wb.parallelize("m_o"))
    text = panel.source["text"].replace("A(m, k) * B(k, n)", "A(m, k) * B(k, n) * B(k, n)")
    assert answer(panel, "rewrite", text=text)["result"] == {"left": ""}
    assert panel.schedule.trace == (wb.tile(m=4, n=4), wb.parallelize("m_o"))
    assert panel.schedule.program.sizes == {"M": 16, "K": 16, "N": 16}
    assert panel.source["text"].count("B(k, n)") == 2
    space: dict = {}
    exec(str(panel.history), space)
    assert space["schedule"] == panel.schedule
    panel.undo()
    assert panel.source["text"].count("B(k, n)") == 1


def test_steps_that_no_longer_fit_are_named():
    panel = wb.panel(wb.schedule(wb.ops.matmul, M=16, N=16, K=16))
    panel.apply(wb.interchange("n", "m"))
    text = "def matmul(float(M) A) -> (C) { C(m) = A(m) }"
    assert "interchange" in answer(panel, "rewrite", text=text)["result"]["left"]
    assert panel.schedule.program.sizes == {"M": 16}
    assert panel.domain["statements"][0]["dims"] == ["m"]


def test_a_wrong_text_changes_nothing():
    panel = wb.panel(schedule("matmul"))
    assert "error" in answer(panel, "rewrite", text="def f(")
    assert len(panel.history.moments) == 1


def test_what_is_told_can_be_stored():
    panel = wb.panel(on_a_gpu())
    for name in ("CUDA", "footprint", "roofline", "warps"):
        answer(panel, "view", name=name)
    json.dumps([panel.views, panel.machine, panel.source])


def test_what_was_worked_out_stays_where_nothing_moved():
    """A page that asked once does not ask again: what vanished would never come back."""
    panel = wb.panel(schedule("matmul"))
    answer(panel, "view", name="footprint")
    counted = panel.views
    answer(panel, "go", place=panel.history.place)
    assert panel.views == counted
    panel.apply(wb.parallelize("m"))
    assert panel.views == {}
