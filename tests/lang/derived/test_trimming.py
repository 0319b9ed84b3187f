"""Ranges that are left out of derived texts are the same whether the whole text was read beside them or not."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.poly.making import Maker
from tests.properties.shapes import product
from tests.support import examples
from workbench.errors import OperatorError
from workbench.lang.derived.text import trimming
from workbench.lang.derived.text.source import Source
from workbench.lang.derived.text.writing import Derived
from workbench.lang.operator import Operator

UNPLANNED = wb.operator("""
def ends<T>(T(N) x, T(M) y) -> (z, s) {
    z(i) = i < N ? x(i) : y(i - N) where i in 0:N+M
    s(i) = z(i) + 1
}""")


def derived(op: Operator) -> Derived:
    """The operator on its way to text."""
    op = op.astype("float") if op.generic else op
    return Derived(
        Source(op, op), op.name, op.parameters, op.outputs, dict(op.tensors), op.body, frozenset(), op.promises,
        kind=None,
    )  # fmt: skip


def read(op: Operator) -> str:
    """Its text, or why there is none."""
    try:
        return derived(op).operator().text
    except OperatorError as error:
        return str(error)


def agrees(op: Operator, monkeypatch) -> None:
    shortly = read(op)
    with monkeypatch.context() as patched:
        patched.setattr(trimming, "_is_as_written", lambda *_: False)
        assert read(op) == shortly


@pytest.mark.parametrize("name", wb.ops.list())
def test_texts_of_the_library_are_as_short_as_where_all_is_compared(name, monkeypatch):
    agrees(wb.ops.load(name), monkeypatch)


@pytest.mark.parametrize("seed", range(examples(quick=10, ci=30, full=300)))
def test_texts_of_random_operators_are_as_short_as_where_all_is_compared(seed, monkeypatch):
    agrees(product(seed) if seed % 2 else Maker(seed).operator(), monkeypatch)


def test_a_text_with_one_range_needs_no_other_reading():
    """The first statement means something else without its range: the second attempt is what was written."""
    made = derived(UNPLANNED)
    text = made.operator().text
    assert "where i in 0:N + M" in text.splitlines()[1]
    assert "where" not in text.splitlines()[2]
    assert "whole" not in vars(made)


def test_ranges_that_differ_are_found(monkeypatch):
    """Were any ranges taken for those that were written, the text would mean something else."""
    right = read(UNPLANNED)
    cut = wb.operator("def shifted(float(N) x) -> (y) { y(i) = x(i+1) where i in 0:N-2 }")
    kept = read(cut)
    monkeypatch.setattr(trimming, "_is_as_written", lambda *_: True)
    assert read(UNPLANNED) == right  # its first attempt is refused, not wrong
    assert read(cut) != kept
