"""An error of ours in a cell: message and the user's own lines; other errors, and other modes, are IPython's."""

from __future__ import annotations

import re

import pytest

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.viz.notebook.error_tracebacks import error_lines, shorten


@pytest.fixture
def shell():
    from IPython.core.interactiveshell import InteractiveShell

    made = InteractiveShell()
    shorten(made)
    made.run_cell("import workbench as wb\nnaive = wb.schedule(wb.ops.matmul, M=8, N=8, K=8)", store_history=True)
    yield made
    del WorkbenchError._render_traceback_


def shown(shell, capsys, cell):
    capsys.readouterr()
    shell.run_cell(cell, store_history=True)
    return re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)


def test_message_and_place_without_our_frames(shell, capsys):
    out = shown(shell, capsys, "def mine(s):\n    return s | wb.parallelize('k')\n\nmine(naive)")
    assert out.startswith("IllegalSchedule: parallelize('k'): would race on C")
    assert "instead: split_reduction('k', 8) | parallelize('k_o')" in out
    assert out.index("at cell [2], line 2, in mine:\n    return s | wb.parallelize('k')") < out.index(
        "at cell [2], line 4:\n    mine(naive)"
    )
    assert "workbench/" not in out
    assert "IPython" not in out


def test_of_a_cell_only_the_line_that_failed_is_shown(shell, capsys):
    out = shown(shell, capsys, "wb.schedule(wb.ops.conv2d, N=1)\nwb.certify(wb.schedule(wb.ops.matmul))")
    assert out.count("\nat cell [2], line ") == 1


def test_other_errors_are_those_of_ipython(shell, capsys):
    assert "Traceback (most recent call last)" in shown(shell, capsys, "1 / 0")


@pytest.mark.parametrize("mode", ["Plain", "Verbose"])
def test_another_mode_shows_all_frames(shell, capsys, mode):
    out = shown(shell, capsys, f"%xmode {mode}\nnaive | wb.parallelize('k')")
    assert "Traceback" in out
    assert "scheduled_program.py" in out
    shell.run_line_magic("xmode", "Context")


def test_a_foreign_cause_is_named():
    try:
        try:
            int("seven")
        except ValueError as reason:
            raise WorkbenchError("sizes are numbers") from reason
    except WorkbenchError as error:
        head, cause, *_ = error_lines(error)
    assert head == "WorkbenchError: sizes are numbers"
    assert cause == "because of ValueError: invalid literal for int() with base 10: 'seven'"


def test_loading_the_extension_shortens(capsys):
    from IPython.core.interactiveshell import InteractiveShell

    made = InteractiveShell()
    wb.load_ipython_extension(made)
    try:
        out = shown(made, capsys, "import workbench as wb\nwb.ops.matmull")
        assert out.startswith("UnknownOperator: unknown operator 'matmull'; did you mean 'matmul'?")
        assert out.rstrip().endswith("wb.ops.matmull")
    finally:
        del WorkbenchError._render_traceback_
