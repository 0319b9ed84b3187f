"""Gradients of random operators against central differences.

    python -m tests.lang.derived.random_operators --programs 1000

The operators are those of the property tests, with float64 for every type of floats.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from dataclasses import replace
from random import Random
from time import perf_counter

import numpy as np

from tests.lang.derived.differences import Comparison, Point, compared
from tests.properties.inputs import Problem, arguments, problem
from tests.properties.writer import Case, Writer
from workbench.errors import BudgetExceeded, CallError, LoweringError, OperatorError

SMALL, SLOW = 9, 20
FLOATS = re.compile(r"\b(float|float16|bfloat16|half)\b")


def case(seed: int) -> Case:
    """The random operator of a seed in float64, at sizes that are quick to evaluate often."""
    writer = Writer(Random(seed))
    made = writer.case(f"p{seed}")
    writer.sizes = {name: min(size, SMALL) for name, size in writer.sizes.items()}
    data = {name: writer.filled(writer.slots[name]) for name in made.data}
    sizes = {name: writer.sizes[name] for name in made.sizes}
    return replace(made, text=FLOATS.sub("double", made.text), sizes=sizes, data=data)


def point(made: Problem, seed: int) -> Point | None:
    """The operator at data without ties; None if no input is of floats."""
    generator = np.random.default_rng(seed)
    for name, array in made.values.items():
        if made.op.tensors[name].dtype.is_float:
            made.values[name] = generator.standard_normal(array.shape)
    given = {n: made.values[n] for n in made.op.outputs if n in made.values}
    given = {n: a if made.op.tensors[n].role == "inout" else np.zeros_like(a) for n, a in given.items()}
    found = Point(made.op, arguments(made), given, made.case.sizes)
    return found if found.inputs and found.floats else None


def judged(seed: int) -> tuple[str, Comparison]:
    """What became of a seed: a word for the count, and how its gradients compare."""
    try:
        made = problem(case(seed), Random(seed))
    except (OperatorError, LoweringError, BudgetExceeded) as reason:
        return f"no operator ({type(reason).__name__})", Comparison()
    except CallError:
        return "refused by the operator itself (CallError)", Comparison()
    if any(tensor.dtype.name == "float32" for tensor in made.op.tensors.values()):
        return "float32 by default", Comparison()
    at = point(made, seed)
    if at is None:
        return "nothing of floats", Comparison()
    return "compared", compared(at, seed, tolerance=1e-5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="operators that are compared")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    words: Counter[str] = Counter()
    inputs: Counter[str] = Counter()
    wrong, seed = 0, options.first
    while words["compared"] < options.programs:
        started = perf_counter()
        try:
            word, found = judged(seed)
        except Exception as error:
            word, found = "compared", Comparison([f"{type(error).__name__}: {error}"])
        words[word] += 1
        inputs.update(
            {"agree": found.agreed, "at no smooth place": found.unsmooth, "infinite inside": found.infinite,
             "wrong": len(found.wrong)}
        )  # fmt: skip
        if perf_counter() - started > SLOW:
            print(f"seed {seed} took {perf_counter() - started:.0f} s", flush=True)
        if found.wrong:
            wrong += 1
            print(f"seed {seed}: {'; '.join(found.wrong)}\n{case(seed)}\n", flush=True)
        seed += 1
    print(f"seeds {options.first} to {seed - 1}: {dict(words)}, {wrong} wrong; gradients by inputs: {dict(inputs)}")


if __name__ == "__main__":
    main()
