"""Faults planted into the text that recipes give to operators: at least 95 of 100 are found with the right line, and
the rest is shown to change nothing.

Every fault of every kernel, with the counts:
`HYPOTHESIS_PROFILE=full python -m pytest -s tests/runtime/emulation/test_recipe_mutants.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

import workbench as wb
from tests.ops.test_compiled import given, needs_out
from tests.ops.test_values import arguments
from tests.recipe_kernels import PAIRS, recipe_schedule
from tests.runtime.emulation.mutants import mutants
from tests.runtime.emulation.test_mutants import FOUND_SHARE, judged
from tests.support import examples
from workbench.codegen.kernel import Kernel
from workbench.runtime.emulation import build_on_cpu
from workbench.runtime.emulation.records import ORDERS

# The full run has every fault of all of them; others have some faults of the kernels that are quick to make.
NAMES = tuple(PAIRS) if examples(quick=0, ci=0, full=1) else ("transpose", "argmax")
STEP = examples(quick=5, ci=3, full=1)
SEEDS = 4
SPECIAL = (np.inf, -np.inf, np.nan, 3e38)


def outcomes(name: str) -> dict[str, str]:
    """Fault → what became of it, for one kernel; nothing is found in the kernel itself.

    "harmless" is what was shown to be so: nothing is found, and results are the same bit for bit.
    """
    op, kernel = wb.ops.load(name), wb.generate(recipe_schedule(name), target="h200")
    arrays, out = arguments(name, PAIRS[name])
    out = given(out if needs_out(op) else None)
    assert wb.sanitize(kernel, *arrays, **out), name
    judgements: dict[str, str] = {}
    wanted: list[bytes] = []
    for mutant in list(mutants(kernel))[::STEP]:
        judgement = judged(mutant, wb.sanitize(mutant.kernel, *arrays, **out))
        if judgement == "harmless":
            wanted = wanted or list(results(kernel, arrays, out))
            judgement = "harmless" if list(results(mutant.kernel, arrays, out)) == wanted else "not found"
        judgements[f"{name}: {mutant}"] = judgement
    return judgements


def results(kernel: Kernel, arrays: tuple[Any, ...], out: dict[str, Any]) -> Iterator[bytes]:
    """What a kernel computes in four orders of its threads, also where infinities and NaNs stand in the operands."""
    for seed in range(SEEDS):
        run = build_on_cpu(kernel, order=ORDERS[min(seed, 2)], seed=seed, threads=1)
        for number in range(2):
            found = run(*(strange(a, seed) if number else a for a in arrays), **given(out.get("out")))
            yield b"".join(np.asarray(a).tobytes() for a in (found if isinstance(found, tuple) else (found,)))


def strange(array: Any, seed: int) -> Any:
    """A copy with one element in ten that spreads over whatever it is multiplied with; indices stay as they are."""
    values = np.array(array)
    if values.dtype.kind in "iub":
        return values
    random = np.random.default_rng(seed)
    places = random.random(values.shape) < 0.1
    values[places] = random.choice(SPECIAL, int(places.sum())).astype(values.dtype)
    return values


def test_faults_in_the_text_of_recipes_are_found_with_their_lines():
    found = {fault: outcome for name in NAMES for fault, outcome in outcomes(name).items()}
    counts = Counter(found.values())
    print(", ".join(f"{what} {n}" for what, n in counts.most_common()))
    rest = [f"{outcome}: {fault}" for fault, outcome in found.items() if outcome != "found"]
    assert set(counts) <= {"found", "harmless"}, rest
    assert counts["found"] >= FOUND_SHARE * len(found), rest
