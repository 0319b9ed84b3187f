"""One batch of random expressions, computed in every way there is: one by one, in lanes, as CUDA, and by the oracle."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import workbench as wb
from tests.codegen.expressions import Writer, program, values
from tests.runtime.emulation.test_generated import on_threads
from workbench.lang.dtypes import DTYPES
from workbench.runtime.emulation import build_on_cpu
from workbench.settings import settings
from workbench.target import Target

BATCH = 48
SIZE = 75  # whole vectors of every width, and a rest
WIDTHS = (64, 128, 256, 512)


def batch(seed: int, count: int = BATCH) -> list[str]:
    """The expressions of a seed."""
    writer = Writer(Random(seed))
    return [writer.expression() for _ in range(count)]


def arguments(seed: int) -> list[Any]:
    """An array and a number of every element type."""
    random = np.random.default_rng(seed)
    arrays = [values(d, 2 * SIZE, random) for d in DTYPES.values()]
    return arrays + [values(d, 1, random)[0] for d in DTYPES.values()]


def differences(expressions: list[str], seed: int, width: int) -> list[str]:
    """Each expression of which two ways make different things, with the ways and the first place; empty if all agree.

    `width` is that of vectors, in bits.
    """
    op, given = wb.operator(program("f", expressions)), arguments(seed)
    wanted = _listed(op.evaluate(*given, accumulate=None))
    found: list[str] = []
    for way, results in _ways(op, given, width):
        for expression, a, b in zip(expressions, results, wanted, strict=True):
            bad = differing(a, b)
            if bad is not None:
                found.append(f"{way}, i = {bad}: {a[bad]!r} instead of {b[bad]!r}\n    {expression}")
    return found


def _ways(op: wb.Operator, given: list[Any], width: int) -> Iterator[tuple[str, list[np.ndarray]]]:
    naive = wb.schedule(op)
    yield "one by one", _listed(wb.build(naive)(*given))
    lanes = naive
    for name in op.outputs:
        lanes = lanes | wb.vectorize(f"{name}/i")
    yield f"lanes of {width} bits", _listed(wb.build(lanes, target=Target(vector_bits=width))(*given))
    yield "CUDA", _listed(build_on_cpu(wb.generate(on_threads(naive), "cuda"))(*given))


def _listed(results: Any) -> list[np.ndarray]:
    return list(results) if isinstance(results, tuple) else [results]


def differing(found: np.ndarray, wanted: np.ndarray) -> int | None:
    """The first place with other bits; one that is no number is like another."""
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return 0
    if found.dtype.kind in "biu":
        bad = found != wanted
    else:
        a, b = found.astype(np.float64), wanted.astype(np.float64)
        bad = ~((a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b))
    return int(np.argmax(bad)) if bad.any() else None


@contextmanager
def building(folder: Path, level: str = "", command: str = "gcc") -> Iterator[None]:
    """Kernels are built in `folder`, with the flags that users get, or at another level of optimisation."""
    script, caches = folder / f"{command}{level}", folder / f"cache{level}"
    if not script.exists():
        script.write_text(f'#!/bin/sh\nexec {command} "$@" {level}\n')
        script.chmod(0o755)
    with settings(cache=caches, compiler=str(script)):
        yield
    shutil.rmtree(caches, ignore_errors=True)
