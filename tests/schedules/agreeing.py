"""Does the compiled kernel of a schedule compute what the operator's oracle does?"""

from __future__ import annotations

import zlib

import numpy as np

import workbench as wb
from tests.fromc.polybench import arguments, copied, results
from workbench.lang.algebra.folding import fold
from workbench.lang.operator import Operator
from workbench.schedules import Schedule


def agree(schedule: Schedule, sizes: dict[str, int] | None = None, seed: int = 0, **build: object) -> None:
    """Small whole numbers as data, so that no order of additions rounds; AssertionError where a result differs.

    What is tried is the schedule's text: three of four kernels are compiled without optimisation, which takes a third
    of the time, the others with the flags that users get.
    """
    program = schedule.original
    op = program.definition
    assert op is not None
    known = {**program.sizes, **(sizes or {})}
    random = np.random.default_rng(seed)
    arguments: list[object] = []
    for name in op.parameters:
        if name in op.scalars:
            arguments.append(known[name])
            continue
        tensor = op.tensors[name]
        shape = [fold(e, known) for e in tensor.extent]
        arguments.append(random.integers(-3, 4, shape).astype(tensor.dtype.numpy))
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    build = {"debug": zlib.crc32(schedule.key.encode()) % 4 > 0, **build}
    results, expected = wb.build(schedule, **build)(*copies), op.evaluate(*arguments)  # type: ignore[arg-type]
    both = zip(_several(results), _several(expected), strict=True)
    for result, right in both:
        np.testing.assert_allclose(np.asarray(result), np.asarray(right), rtol=1e-4, atol=1e-5)


def _several(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def same_bits(of: Operator, schedule: Schedule, sizes: dict[str, int]) -> None:
    """Does a program from C compute, on one thread and on two, what its sequential text does, to the last bit?"""
    given = arguments(of, sizes)
    expected = results(wb.evaluate_c(of, *copied(given)))
    for threads in (1, 2):
        found = results(wb.build(schedule, threads=threads, debug=True)(*copied(given)))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)
