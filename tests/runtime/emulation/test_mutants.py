"""Faults planted into generated text are found, with the line, or change nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import workbench as wb
from tests.runtime.emulation.mutants import Mutant, mutants
from tests.runtime.emulation.staged import double_buffered, pipelined
from tests.runtime.hand import numbers
from tests.support import examples
from workbench.runtime.emulation import Findings
from workbench.schedules import Schedule

N = 11
FOUND_SHARE = 0.95
SCHEDULES: dict[str, Callable[[int, int], Schedule]] = {"double_buffered": double_buffered, "pipelined": pipelined}


def judged(mutant: Mutant, found: Findings) -> str:
    """ "found" with its line (for a barrier: lines that it kept apart), "without line", or "harmless"."""
    if not len(found):
        return "harmless"
    at = {line for f in found for line in (f.line, f.other_line) if line}
    if mutant.fault == "barrier removed":
        return "found" if at else "without line"
    return "found" if mutant.line in at or _follows(mutant, at) else "without line"


def _follows(mutant: Mutant, lines: set[int]) -> bool:
    """Whether a fault in a bound or a condition shows in the body that it governs."""
    text = mutant.kernel.source.split("\n")
    indent = len(text[mutant.line - 1]) - len(text[mutant.line - 1].lstrip())
    end = next(n for n in range(mutant.line, len(text)) if text[n].strip() and _indent(text[n]) <= indent)
    return "loosened" in mutant.fault and any(mutant.line <= line <= end for line in lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


@pytest.mark.parametrize("name", SCHEDULES)
def test_faults_in_generated_text_are_found_at_their_lines(name):
    kernel = wb.generate(SCHEDULES[name](N, 4), target="cuda")
    arrays = numbers(N, N, seed=1), numbers(N, N, seed=2)
    assert wb.sanitize(kernel, *arrays)
    chosen = list(mutants(kernel))[:: examples(quick=7, ci=4, full=1)]
    outcomes = {str(mutant): judged(mutant, wb.sanitize(mutant.kernel, *arrays)) for mutant in chosen}
    missed = [text for text, outcome in outcomes.items() if outcome == "without line"]
    assert len(missed) <= (1 - FOUND_SHARE) * len(outcomes), missed
    harmless = [text for text, outcome in outcomes.items() if outcome == "harmless"]
    assert len(harmless) <= len(outcomes) // 2, harmless


def test_what_is_harmless_computes_the_same():
    """Nothing found means: compared with the oracle in every order, the result is right."""
    kernel = wb.generate(double_buffered(N, 4), target="cuda")
    arrays = numbers(N, N, seed=1), numbers(N, N, seed=2)
    wrong = next(m for m in mutants(kernel) if m.fault == "copied from another place")
    found = wb.sanitize(wrong.kernel, *arrays)
    assert "wrong result" in {f.kind for f in found} or any(f.kind == "out of bounds" for f in found)
    assert np.isfinite(arrays[0]).all()
