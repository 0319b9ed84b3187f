"""`import workbench` stays light: whatever is heavy waits for its first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support import ROOT

HEAVY = ("islpy", "scipy", "lark", "matplotlib", "IPython", "ipywidgets", "torch", "jax", "ml_dtypes")


def modules_after(statement: str) -> set[str]:
    """Names of the top-level modules loaded by a fresh interpreter that ran `statement`."""
    program = f"{statement}\nimport sys\nprint(*{{m.partition('.')[0] for m in sys.modules}})"
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_the_import_loads_nothing_heavy():
    assert not modules_after("import workbench") & set(HEAVY)


def test_looking_at_the_names_loads_nothing_heavy():
    assert not modules_after("import workbench; dir(workbench); workbench.__all__") & set(HEAVY)


@pytest.mark.parametrize("name", ["islpy"])
def test_the_first_use_loads_what_it_needs(name):
    text = "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }"
    assert name in modules_after(f"import workbench as wb; wb.lower(wb.operator({text!r}))")
