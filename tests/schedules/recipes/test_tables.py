"""The recipes' tables: every row can be loaded, says why it is there, and is taken by some program."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

import workbench as wb
from tests.fromc.polybench import program
from tests.schedules.recipes.memory.test_column_reduction import SWEEPS
from tests.schedules.recipes.memory.test_row_fusion import NORM, SMALL
from tests.schedules.recipes.recurrences.test_index_set_splitting import PATHS
from tests.schedules.recipes.recurrences.test_row_recurrences import SECOND
from tests.schedules.recipes.recurrences.test_triangles import TRIANGLES
from workbench.poly.programs.program import Program
from workbench.schedules.recipes import default_recipe
from workbench.schedules.recipes.decisions import deciding
from workbench.schedules.recipes.gpu import default as gpu_recipe
from workbench.schedules.recipes.table import Row
from workbench.target import Target

C = {
    name: getattr(default_recipe, name) for name in ("BEFORE", "WAYS", "MORE_WAYS", "UNBLOCKED", "AFTER")
}  # fmt: skip
GPU = {name: getattr(gpu_recipe, name) for name in ("BEFORE", "PRODUCTS", "MAPPINGS")}
LARGE = {"M": 4096, "N": 4096}


def of(name: str, **sizes: int) -> Callable[[], Program]:
    """An operator of the library."""
    return lambda: wb.lower(wb.ops.load(name), **sizes)


def from_c(text: str, **sizes: int) -> Callable[[], Program]:
    """A nest in C."""
    return lambda: wb.lower(wb.from_c(text), **sizes)


def written(text: str, **sizes: int) -> Callable[[], Program]:
    """An operator's text."""
    return lambda: wb.lower(wb.operator(text), **sizes)


# A program that takes the row, and for which machine.
TAKEN: dict[str, tuple[Callable[[], Program], Target]] = {
    "privatization": (of("jacobi_2d", N=512, M=512, steps=20), Target()),
    "index_set_splitting": (from_c(PATHS, n=37), Target()),
    "copy_propagation": (of("conv2d", N=1, C=8, H=9, W=9, F=8, KH=1, KW=1, stride=1, pad=0, dilation=1), Target()),
    "fusion": (of("softmax", **LARGE), Target()),
    "fission": (lambda: wb.lower(program("symm", reassociate=True), m=60, n=70), Target(vector_bits=256, cores=2)),
    "column_partials": (written(NORM, M=700, N=300), SMALL),
    "own_rows": (lambda: wb.lower(wb.ops.upsample_bilinear, **wb.ops.upsample_bilinear.examples[0]), Target()),
    "time_tiling": (lambda: wb.lower(program("jacobi-2d"), tsteps=20, n=512), Target()),
    "partial_sums": (of("dot", N=1 << 22), Target(cores=16)),
    "triangles": (from_c(TRIANGLES["columns above the diagonal only"], n=100), Target(vector_bits=256, cores=2)),
    "instructions": (of("matmul_int8", M=256, N=256, K=256), Target("avx512_vnni")),
    "windows": (of("conv2d", N=1, C=64, H=58, W=58, F=64, KH=3, KW=3, stride=1, pad=0, dilation=1), Target()),
    "packing": (of("matmul", M=512, N=512, K=512), Target()),
    "blocks": (of("matvec", M=2048, K=2048), Target()),
    "column_reduction": (from_c(SWEEPS["Gram and Schmidt"], m=64, n=37), Target(vector_bits=256, cores=2)),
    "tile_fusion": (of("blur", H=1080, W=1920), Target()),
    "own_windows": (of("conv2d", N=1, C=16, H=32, W=32, F=16, KH=3, KW=3, stride=1, pad=1, dilation=1),
                    Target(vector_bits=512, cores=2)),
    "row_recurrences": (written(SECOND, S=2000, C=300), Target(cores=2)),
    "vectorization": (of("axpy", N=4096), Target()),
    "interleaved_recurrences": (of("cumsum", M=1024, N=1024), Target()),
    "parallelization": (of("softmax", **LARGE), Target(cores=2)),
    "nontemporal_stores": (of("bias_relu", **LARGE), Target()),
    "software_prefetch": (of("softmax", **LARGE), Target()),
    "gather_prefetch": (of("embedding", N=1024, V=50000, D=256), Target()),
}
MAPPED: dict[str, Callable[[], Program]] = {
    "copy_propagation": of("conv2d", N=1, C=8, H=9, W=9, F=8, KH=1, KW=1, stride=1, pad=0, dilation=1),
    "unframed": of("max_pool2d", N=1, C=4, H=9, W=9, k=3, stride=2, pad=1),
    "fusion": of("softmax", **LARGE),
    "scattered": of("histogram", N=1 << 20, bins=64),
    "product": of("matmul", M=512, N=512, K=512),
    "transposed": of("transpose", M=2048, N=2048),
    "in_pieces": of("dot", N=1 << 22),
    "rowwise": of("softmax", **LARGE),
    "gridded": of("axpy", N=4096),
    "stepwise": of("jacobi_2d", N=512, M=512, steps=20),
}
ROWS = [row for table in (*C.values(), *GPU.values(), (gpu_recipe.PIECES, gpu_recipe.ONCE)) for row in table]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.where)
def test_a_row_names_a_function_that_takes_what_the_row_says(row: Row) -> None:
    parameters = inspect.signature(row.function).parameters.values()
    assert len([p for p in parameters if p.kind is not p.KEYWORD_ONLY]) == 1 + len(row.takes)
    assert row.function.__doc__


def test_every_row_says_why_it_is_there() -> None:
    for table in (C, GPU):
        rows = [row for part in table.values() for row in part]
        assert len({row.name for row in rows}) == len(rows)
        assert len({row.reason for row in rows}) == len(rows)
    assert all(len(row.reason.split()) > 4 and row.reason[0].islower() for row in ROWS)


def for_tuners(tables: dict[str, tuple[Row, ...]]) -> set[str]:
    """Rows that the recipe takes only where a tuner listens."""
    first = [*tables.get("MORE_WAYS", ()), *(row for table in tables.values() for row in table)]
    with deciding({}):
        listening = wb.schedule(wb.operator("def f(float(N) A) -> (B) { B(i) = A(i) B(i) = B(i-1) where i in 1:N }"))
        wanted = {row.name for row in first if row.applies(listening)}
    alone = {row.name for row in first if row.applies(listening)}
    return (wanted - alone) | {row.name for row in tables.get("MORE_WAYS", ())}


def test_the_tables_of_examples_are_complete() -> None:
    assert {row.name for table in C.values() for row in table} - for_tuners(C) == {*TAKEN}
    assert {row.name for table in GPU.values() for row in table} - for_tuners(GPU) == {*MAPPED}


@pytest.mark.parametrize("name", TAKEN)
def test_a_row_of_the_default_recipe_is_taken(name: str) -> None:
    lower, target = TAKEN[name]
    found = default_recipe.recipes_taken(lower(), target)
    assert name in [row.name for row, _ in found]
    assert found[-1][1].verdict


@pytest.mark.parametrize("name", MAPPED)
def test_a_row_of_the_recipe_for_gpus_is_taken(name: str) -> None:
    found = gpu_recipe.recipes_taken(MAPPED[name]())
    assert name in [row.name for row, _ in found]
    assert found[-1][1].verdict


def test_what_was_taken_in_turn_is_the_default_schedule() -> None:
    of_softmax = wb.lower(wb.ops.softmax, M=64, N=256)
    found = default_recipe.recipes_taken(of_softmax, Target(cores=2))
    assert found[-1][1] == default_recipe.default_schedule(of_softmax, Target(cores=2))
    lengths = [len(schedule.trace) for _, schedule in found]
    assert lengths == sorted(set(lengths)), "each adds steps"
