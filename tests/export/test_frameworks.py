"""Exports to frameworks that are not here."""

from __future__ import annotations

import sys

import pytest

import workbench as wb
from workbench.errors import WorkbenchError

COPY = "def copied(float(N) A) -> (B) { B(i) = A(i) }"


@pytest.mark.parametrize(("export", "folder", "word"), [("torch", "pytorch", "PyTorch"), ("jax", "xla", "JAX")])
def test_a_framework_that_is_missing_is_named(monkeypatch, export, folder, word):
    for name in [n for n in sys.modules if n.startswith(f"workbench.export.{folder}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, export, None)
    with pytest.raises(WorkbenchError, match=f"{word} is not installed: pip install {export}"):
        getattr(wb.export, export)(wb.operator(COPY))
