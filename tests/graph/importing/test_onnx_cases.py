"""The ONNX project's own node cases: each passes, or is one of those that are known to be refused."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="install onnx: its own cases are the judge")

from bench.models.onnx_suite import cases, judged

REFUSED = frozenset((Path(__file__).parent / "refused_onnx_cases.txt").read_text(encoding="utf-8").split())
PARTS = 48


@pytest.mark.parametrize("part", range(PARTS))
def test_cases_pass_or_are_refused_by_name(part):
    outcomes = [judged(case) for case in cases()[part::PARTS]]
    surprises = [each for each in outcomes if each.status != ("refused" if each.name in REFUSED else "passed")]
    assert not surprises


def test_more_cases_pass_than_were_asked_for():
    names = {case.name for case in cases()}
    assert names >= REFUSED
    assert len(names - REFUSED) >= 1500
