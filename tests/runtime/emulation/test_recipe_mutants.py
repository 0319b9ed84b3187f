"""Faults planted into the text that recipes give to operators are found with the right line, or change nothing.

Every fault of every kernel, with the counts:
`HYPOTHESIS_PROFILE=full python -m pytest -s tests/runtime/emulation/test_recipe_mutants.py`.
"""

from __future__ import annotations

from collections import Counter

import workbench as wb
from tests.ops.test_compiled import given, needs_out
from tests.ops.test_values import arguments
from tests.recipe_kernels import PAIRS, recipe_schedule
from tests.runtime.emulation.mutants import mutants
from tests.runtime.emulation.test_mutants import FOUND_SHARE, judged
from tests.support import examples

# The full run has every fault of all of them; others have some faults of the kernels that are quick to make.
NAMES = tuple(PAIRS) if examples(quick=0, ci=0, full=1) else ("transpose", "argmax")
STEP = examples(quick=5, ci=3, full=1)


def outcomes(name: str) -> dict[str, str]:
    """Fault → what became of it, for one kernel; nothing is found in the kernel itself."""
    op, kernel = wb.ops.load(name), wb.generate(recipe_schedule(name), target="h200")
    arrays, out = arguments(name, PAIRS[name])
    out = given(out if needs_out(op) else None)
    assert wb.sanitize(kernel, *arrays, **out), name
    chosen = list(mutants(kernel))[::STEP]
    return {f"{name}: {mutant}": judged(mutant, wb.sanitize(mutant.kernel, *arrays, **out)) for mutant in chosen}


def test_faults_in_the_text_of_recipes_are_found_with_their_lines():
    """What is called harmless gave the oracle's result in every order of threads, without any other finding."""
    found = {fault: outcome for name in NAMES for fault, outcome in outcomes(name).items()}
    counts = Counter(found.values())
    print(", ".join(f"{what} {n}" for what, n in counts.most_common()))
    missed = [fault for fault, outcome in found.items() if outcome == "without line"]
    assert counts["found"] >= FOUND_SHARE * (counts["found"] + len(missed)), (counts, missed)
    assert counts["harmless"] <= len(found) // 3, [fault for fault, outcome in found.items() if outcome == "harmless"]
