"""Random models through random lines of passes: what comes out computes the same, as the interpreter judges.

    python -m tests.graph.random_passes --models 2000
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

import numpy as np

import workbench as wb
from tests.graph.mangled_models import mangled_model
from tests.graph.random_models import random_arguments
from workbench.errors import CallError
from workbench.graph import Model, model
from workbench.graph.evaluation.values import same

EXACT = (
    "fold_constants", "dead_code", "common_subexpressions", "inline", "to_anf", "to_graph_form", "to_basic_blocks",
    "parallel_branches", "partial_evaluate", "simplify_inference",
)  # fmt: skip


def random_line(seed: int, longest: int = 4) -> list[Any]:
    """Passes in a random order; the same for the same seed."""
    random = np.random.default_rng([seed, 2])
    known = [name for name in EXACT if name in wb.passes]
    return [getattr(wb.passes, known[random.integers(len(known))])() for _ in range(random.integers(1, longest + 1))]


def value(of: Model, arguments: tuple[Any, ...]) -> Any:
    """What a model computes; the error itself where it refuses."""
    try:
        return of.evaluate(*arguments)
    except CallError as error:
        return error


def check(seed: int, steps: list[Any]) -> Model:
    """The model after the passes; AssertionError names the first after which something else is computed."""
    first = mangled_model(seed)
    found, arguments = first, random_arguments(seed)
    expected = value(first, arguments)
    for step in steps:
        found = found | step
        again = value(found, arguments)
        fits = isinstance(expected, CallError) or same(again, expected)
        assert fits, f"seed {seed}: after {step} (of {' | '.join(map(str, steps))}): {again!r}, not {expected!r}"
    assert model(str(found), found.constants) == found, f"seed {seed}: printed and read it is another model"
    return found


def main() -> None:
    """Checks so many models and says how often each pass had something to do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--passes", nargs="*", help="these, in this order, instead of random ones")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    failed = 0
    for seed in range(given.first, given.first + given.models):
        steps = [getattr(wb.passes, name)() for name in given.passes] if given.passes else random_line(seed)
        try:
            found = check(seed, steps)
        except Exception as error:
            failed += 1
            print(f"seed {seed}: {type(error).__name__}: {str(error)[:600]}")
            continue
        for each in found.trace:
            counts[f"{each.step.name}: {'changed' if each.changed else 'nothing to do'}"] += 1
    for name, count in sorted(counts.items()):
        print(f"{count:6} {name}")
    print(f"{given.models} models, {failed} failed")


if __name__ == "__main__":
    main()
