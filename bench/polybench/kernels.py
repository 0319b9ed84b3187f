"""The thirty PolyBench kernels: where their texts are, their LARGE and small sizes, and numbers that stay finite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb
from workbench.fromc import raised_from
from workbench.poly.programs.program import Program

HERE = Path(__file__).resolve()
FOLDERS = (HERE.parents[2] / "tests" / "polybench", HERE.with_name("texts"))

# The sizes of PolyBench/C 4.2.1, by the names of the parameters here.
LARGE: dict[str, dict[str, int]] = {
    "2mm": {"ni": 800, "nj": 900, "nk": 1100, "nl": 1200},
    "3mm": {"ni": 800, "nj": 900, "nk": 1000, "nl": 1100, "nm": 1200},
    "adi": {"tsteps": 500, "n": 1000},
    "atax": {"m": 1900, "n": 2100},
    "bicg": {"m": 1900, "n": 2100},
    "cholesky": {"n": 2000},
    "correlation": {"m": 1200, "n": 1400},
    "covariance": {"m": 1200, "n": 1400},
    "deriche": {"w": 4096, "h": 2160},
    "doitgen": {"nr": 150, "nq": 140, "np": 160},
    "durbin": {"n": 2000},
    "fdtd-2d": {"tmax": 500, "nx": 1000, "ny": 1200},
    "floyd-warshall": {"n": 2800},
    "gemm": {"ni": 1000, "nj": 1100, "nk": 1200},
    "gemver": {"n": 2000},
    "gesummv": {"n": 1300},
    "gramschmidt": {"m": 1000, "n": 1200},
    "heat-3d": {"tsteps": 500, "n": 120},
    "jacobi-1d": {"tsteps": 500, "n": 2000},
    "jacobi-2d": {"tsteps": 500, "n": 1300},
    "lu": {"n": 2000},
    "ludcmp": {"n": 2000},
    "mvt": {"n": 2000},
    "nussinov": {"n": 2500},
    "seidel-2d": {"tsteps": 500, "n": 2000},
    "symm": {"m": 1000, "n": 1200},
    "syr2k": {"n": 1200, "m": 1000},
    "syrk": {"n": 1200, "m": 1000},
    "trisolv": {"n": 2000},
    "trmm": {"m": 1000, "n": 1200},
}
# What stands in for a size in a quick run: one in so many.
SHRINK = 8
STEPS = {"tsteps": 20, "tmax": 20}
# Matrices that are divided by their diagonal.
DOMINANT = ("cholesky", "lu", "ludcmp", "trisolv")


def text(name: str) -> str:
    """The C text of a kernel."""
    return next(path for folder in FOLDERS if (path := folder / f"{name}.c").exists()).read_text(encoding="utf-8")


def sizes(name: str, *, large: bool) -> dict[str, int]:
    """LARGE, or an eighth of it with 20 time steps."""
    own = LARGE[name]
    return dict(own) if large else {k: STEPS.get(k, max(8, v // SHRINK)) for k, v in own.items()}


def arguments(name: str, program: Program, sizes: dict[str, int]) -> list[Any]:
    """Arguments in the order of the C function: integers, numbers, arrays that belong to the caller."""
    random = np.random.default_rng(1)
    arrays = wb.lower(program, sizes).arrays
    raised = raised_from(program)
    assert raised is not None
    found: list[Any] = []
    for p in raised.parameters:
        if p.is_integer:
            found.append(sizes[p.name])
            continue
        shape = tuple(int(e.value) for e in arrays[p.tensor].extent)  # type: ignore[attr-defined]
        found.append(_values(name, p.name, shape, p.dtype.numpy, random))
    return found


def defined(name: str, arrays: list[Any]) -> list[Any]:
    """The part of the results that the kernel defines.

    Gram and Schmidt's process finds at most as many directions as vectors have components: at LARGE (1200 vectors of
    1000 components, with any data) what it divides after that is rounding errors by rounding errors.
    """
    if name != "gramschmidt":
        return arrays
    a, r, q = arrays
    return [a[:, : len(a)], r[: len(a)], q[:, : len(a)]]


def _values(name: str, array: str, shape: tuple[int, ...], dtype: Any, random: np.random.Generator) -> Any:
    if not shape:
        return 0.5 if name == "deriche" else 1.2
    if np.dtype(dtype).kind in "iu":
        least, most = {"seq": (0, 4), "table": (0, 1)}.get(array, (1, 50))
        return random.integers(least, most, shape).astype(dtype)
    values = random.uniform(0.5, 1.5, shape)
    if name == "durbin":
        values /= 4 * shape[0]
    if name in DOMINANT and len(shape) == 2:
        values += np.diag(np.full(shape[0], 2.0 * shape[0]))
    return values.astype(dtype)
