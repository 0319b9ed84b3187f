"""A panel kept as a file or a link is the same panel again; what others wrote is judged and runs nothing."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import pytest

import workbench as wb
from tests.viz.panels.values import SCHEDULES, schedule
from workbench.errors import IllegalSchedule, WorkbenchError
from workbench.viz.panels.code.compiling import chosen_code, flags_of, machine_of
from workbench.viz.panels.code.throughput import InnerLoop, inner_loops
from workbench.viz.panels.storing.kept import LINK, read_kept

WINDOW = wb.operator("""
def window(float(T,D) Q, float(T+7,D) K) -> (S) {
    S(t,w) +=! Q(t,d) * K(t+w,d) where w in 0:8
}
""")


def used():
    """A panel in which something was done."""
    made = wb.panel(wb.schedule(WINDOW, T=48, D=32))
    made.apply(wb.split("d", 8))
    made.apply(wb.interchange("S/w", "S/t"))
    made.panes = ["domain", "code", "warps"]
    made.arrangement = {"talk": True, "texts": [{"language": "assembly", "flags": "-O1"}]}
    made.selection = {"statement": "S", "instance": (1, 2, 3)}
    return made


@pytest.mark.parametrize("way", ["link", "file"])
def test_what_was_kept_comes_back_with_its_way(way, tmp_path):
    made = used()
    again = wb.panel(made.link() if way == "link" else made.save(tmp_path / "one.panel.json"))
    assert again.schedule == made.schedule
    assert (again.panes, again.arrangement, again.selection) == (made.panes, made.arrangement, made.selection)
    assert again.past["steps"] == made.past["steps"]
    again.undo()
    again.undo()
    assert not again.schedule.trace


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_program_can_be_kept(name):
    made = wb.panel(schedule(name))
    assert wb.panel(made.link()).schedule == made.schedule


def test_a_state_is_shown_in_a_panel_that_is_there():
    made, other = used(), wb.panel(schedule("matmul"))
    other._reply({"ask": "1", "name": "restore", "with": {"text": made.link()}})
    assert other.schedule == made.schedule


def test_what_is_given_anew_goes_before_what_was_kept():
    assert wb.panel(used().link(), panes=("tree",)).panes == ["tree"]


def test_an_illegal_step_in_a_state_is_refused():
    state = read_kept(used().link())
    state["schedule"]["steps"] = [wb.parallelize("d").to_json()]
    text = LINK + base64.urlsafe_b64encode(zlib.compress(json.dumps(state).encode())).decode()
    with pytest.raises(IllegalSchedule):
        wb.panel(text)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (f"{LINK}qqqq", "damaged or not whole"),
        (f"{LINK}{base64.urlsafe_b64encode(zlib.compress(b'[1]')).decode()}", "no panel's state"),
        (Path("/nowhere/x.panel.json"), "cannot be read"),
    ],
)
def test_what_is_no_state_is_said(value, says):
    with pytest.raises(WorkbenchError, match=says):
        wb.panel(value)


def test_a_newer_format_is_named():
    with pytest.raises(WorkbenchError, match="format 2; this version reads 1"):
        read_kept(json.dumps({"panel": 2, "operator": "def f"}))


def test_a_link_that_unpacks_to_more_than_is_read_is_refused():
    bomb = LINK + base64.urlsafe_b64encode(zlib.compress(b" " * 50_000_000)).decode()
    with pytest.raises(WorkbenchError, match="at most"):
        read_kept(bomb)


# -- Columns of the code pane --

@pytest.mark.parametrize("text", ["-O2", "-O1 -mavx2 -funroll-loops", "-std=c11 -DX=1", ""])
def test_flags_for_optimising_and_for_the_machine_are_taken(text):
    assert " ".join(flags_of(text)) == text


@pytest.mark.parametrize(
    "text", ["-fplugin=./x.so", "-o /tmp/x", "x.c", "-Wl,-rpath", "-B.", "@file", "-fdump-tree-all", "'"]
)
def test_flags_that_run_or_write_something_are_not(text):
    with pytest.raises(WorkbenchError, match=r"not taken here|cannot be read"):
        flags_of(text)


def test_a_column_is_written_for_the_machine_it_names():
    made = wb.schedule(WINDOW, T=48, D=32) | wb.vectorize("d")
    narrow = chosen_code(made, wb.Target(vector_bits=512), {"language": "C", "target": "neon"})
    wide = chosen_code(made, wb.Target(vector_bits=512), {"language": "C"})
    texts = ["".join(run[0] for line in code["lines"] for run in line["runs"]) for code in (narrow, wide)]
    assert texts[0] != texts[1]
    assert "vector_size(16)" in texts[0]
    with pytest.raises(WorkbenchError, match="neon"):
        machine_of("neno", wb.Target(), "C")


def test_flags_reach_the_compiler():
    made = wb.schedule(WINDOW, T=48, D=32)
    one, two = (chosen_code(made, wb.Target(), {"language": "assembly", "flags": flags}) for flags in ("-O0", "-O2"))
    assert one["notes"][0].endswith("-O0")
    assert len(one["lines"]) > len(two["lines"]) > 10


def test_innermost_loops_are_found_in_assembly_of_both_kinds():
    x86 = [
        ("f:", 0), (".L2:", 0), ("    movq $0, %rax", 1), (".L3:", 0), ("    addq $4, %rax", 2),
        ("    cmpq %rax, %rcx", 2), ("    jne .L3", 2), ("    jne .L2", 1), ("    ret", 0),
    ]  # fmt: skip
    assert inner_loops(x86) == [InnerLoop(".L3", tuple(x86[3:7]))]
    arm = [("f:", 0), (".L3:", 0), ("    ldr q0, [x0], 16", 2), ("    cmp x0, x1", 2), ("    bne .L3", 2)]
    assert [len(loop.instructions) for loop in inner_loops(arm)] == [3]
    assert inner_loops([("f:", 0), ("    ret", 0)]) == []
