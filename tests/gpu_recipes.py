"""Every recipe for GPUs, each made to take operators that the default recipe would give to another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import workbench as wb
from tests.gpu_schedules import bound
from tests.ops.awkward import PRIMES, awkward_sizes
from workbench.schedules import Schedule
from workbench.schedules.recipes.gpu import default as gpu_recipe
from workbench.schedules.recipes.gpu import products as gpu_products
from workbench.schedules.recipes.gpu.rows import mapping as gpu_rows

GROWN = {2: 2, 3: 3, 5: 17, 7: 23, 11: 37, 13: 41, 17: 43, 31: 67, 101: 307}
"""Prime → a larger one: more than a tile or a warp, and a multiple of neither."""

KEPT = {"stride", "pad", "dilation", "shift", "KH", "KW", "KD", "k", "scale", "r", "steps", "top", "left", "bottom",
        "right", "bins"}  # fmt: skip
ENDLESS = 1 << 60


def grown_sizes(name: str) -> dict[str, int]:
    """Awkward sizes of an operator at which tiles, rows and pieces have something to do."""
    kept = KEPT | {"S"} if name == "rnn" else KEPT  # errors of a recurrence grow with every step
    return {size: n if size in kept else GROWN.get(n, n) for size, n in PRIMES[name].items()}


@contextmanager
def _set(*changes: tuple[object, str, object]) -> Iterator[None]:
    with ExitStack() as stack:
        for module, name, value in changes:
            stack.enter_context(patch.object(module, name, value))
        yield


def _default(name: str, sizes: dict[str, int], target: str = "h200") -> Schedule:
    return wb.autoschedule(wb.ops.load(name), target, sizes=sizes)


def _naive(name: str, sizes: dict[str, int]) -> Schedule:
    return bound(wb.schedule(wb.ops.load(name), sizes=sizes), split=32)


def _products(name: str, sizes: dict[str, int]) -> Schedule:
    """Products of any size in tiles, as for a GPU of few multiprocessors; on tensor cores where types allow."""
    with _set((gpu_products, "WORK", 1)):
        return _default(name, sizes, "rtx4090" if name in ("matmul_bf16", "matmul_fp16") else "t4")


def _ahead(name: str, sizes: dict[str, int]) -> Schedule:
    """The same on a GPU that copies by itself: the next pieces are on their way."""
    with _set((gpu_products, "WORK", 1)):
        return _default(name, sizes)


def _rows(name: str, sizes: dict[str, int]) -> Schedule:
    """Sums in pieces of 16 first, then a block for each row, however short and many rows are."""
    few = (gpu_rows, "PIECE", 16), (gpu_rows, "FEW_ROWS", ENDLESS), (gpu_rows, "WARP", 1)
    with _set((gpu_products, "WORK", ENDLESS), *few):
        return _default(name, sizes)


def _grids(name: str, sizes: dict[str, int]) -> Schedule:
    """Independent iterations, copies through tiles."""
    some = tuple(row for row in gpu_recipe.MAPPINGS if row.name in ("transposed", "gridded", "stepwise"))
    with _set((gpu_products, "WORK", ENDLESS), (gpu_recipe, "MAPPINGS", some)):
        return _default(name, sizes)


RECIPES: dict[str, Callable[[str, dict[str, int]], Schedule]] = {
    "naive": _naive,
    "default": _default,
    "products": _products,
    "ahead": _ahead,
    "rows": _rows,
    "grids": _grids,
}


def one_of_each(name: str) -> dict[str, int]:
    """All sizes one."""
    return awkward_sizes(name)[1]
