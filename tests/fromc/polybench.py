"""The PolyBench kernels of tests/polybench, and small arrays for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb
from workbench.fromc import raised_from

FOLDER = Path(__file__).parent.parent / "polybench"
NAMES = sorted(path.stem for path in FOLDER.glob("*.c"))
STEPS = {"tsteps": 3, "tmax": 3}


def program(name: str, *, reassociate: bool = False) -> Any:
    """A kernel raised, its sizes symbolic."""
    return wb.from_c((FOLDER / f"{name}.c").read_text(encoding="utf-8"), reassociate=reassociate)


def small_sizes(of: Any, least: int = 7) -> dict[str, int]:
    """A different small number for each size."""
    return {name: STEPS.get(name, least + 2 * place) for place, name in enumerate(of.symbols)}


def arguments(of: Any, sizes: dict[str, int]) -> list[Any]:
    """Arguments in C's order: positive numbers of about 1, lengths of paths for integers."""
    random = np.random.default_rng(1)
    arrays = wb.lower(of, sizes).arrays
    found: list[Any] = []
    for p in raised_from(of).parameters:
        if p.is_integer:
            found.append(sizes[p.name])
            continue
        shape = tuple(int(e.value) for e in arrays[p.tensor].extent)
        values = random.uniform(0.5, 1.5, shape) if p.dtype.is_float else random.integers(1, 50, shape)
        found.append(values.astype(p.dtype.numpy) if shape else float(values))
    return found


def copied(values: list[Any]) -> list[Any]:
    """The arguments with arrays of their own."""
    return [np.array(v) if isinstance(v, np.ndarray) else v for v in values]


def results(value: Any) -> tuple[Any, ...]:
    """The updated arrays as a tuple."""
    return value if isinstance(value, tuple) else (value,)
