"""`import workbench` stays light: whatever is heavy waits for its first use."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import pytest

from tests.support import PACKAGE, ROOT
from workbench import face

HEAVY = ("numpy", "islpy", "scipy", "lark", "matplotlib", "IPython", "ipywidgets", "torch", "jax", "ml_dtypes")


# What nobody needs who wants to read the C of a product: rooms, and folders of those that are needed.
NOT_FOR_C = (
    "certificates", "codegen.cuda", "codegen.opencl", "export", "fromc", "graph", "lang.derived", "lang.resolve.calls",
    "lang.syntax.messages", "ops", "runtime.calls", "runtime.compilers.probing", "runtime.emulation", "runtime.gpu",
    "runtime.host.processes", "runtime.kernels", "runtime.measuring", "schedules.explanation",
    "schedules.foreign_names", "schedules.recipes.gpu", "schedules.recipes.recurrences", "schedules.repairs",
    "schedules.sketches", "tune", "viz",
)  # fmt: skip
# The steps of the default schedule of a product, and one that is tried instead of another.
STEPS = {
    "decompose_reduction", "distribute", "parallelize", "reorder", "split", "stage", "tile", "transform_layout",
    "unroll", "vectorize",
}  # fmt: skip
MOST_MODULES = 240
"""Of the library, for C; there were 257 before it had rooms within rooms."""

PRODUCT = """
import workbench as wb
matmul = wb.operator("def matmul(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")
"""
GENERATED = f"""{PRODUCT}
assert "#pragma omp" in wb.generate(wb.autoschedule(matmul, wb.Target(cores=4), M=512, N=512, K=512)).source
wb.generate(wb.autoschedule(matmul, M=512, N=512, K=512))
"""


@cache
def loaded_after(statement: str) -> frozenset[str]:
    """Names of the modules loaded by a fresh interpreter that ran `statement`."""
    command = [sys.executable, "-c", f"{statement}\nimport sys\nprint(*sys.modules)"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return frozenset(run.stdout.split())


def modules_after(statement: str) -> set[str]:
    """The top-level ones among them."""
    return {name.partition(".")[0] for name in loaded_after(statement)}


def own_after(statement: str) -> set[str]:
    """Those of the library, named from its rooms on."""
    return {name.removeprefix("workbench.") for name in loaded_after(statement) if name.startswith("workbench.")}


def steps_among(modules: set[str]) -> set[str]:
    """The steps whose modules are among these."""
    return {m.rpartition(".")[2] for m in modules if m.startswith("schedules.steps.")} & {*face.STEPS}


def test_the_import_loads_nothing_heavy():
    assert not modules_after("import workbench") & set(HEAVY)


def test_looking_at_the_names_loads_nothing_heavy():
    assert not modules_after("import workbench; dir(workbench); workbench.__all__") & set(HEAVY)


@pytest.mark.parametrize("name", ["islpy"])
def test_the_first_use_loads_what_it_needs(name):
    text = "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }"
    assert name in modules_after(f"import workbench as wb; wb.lower(wb.operator({text!r}))")


def test_the_import_looks_through_its_objects_only_at_its_beginning():
    """Garbage collection went through what was just made again and again, a tenth of the time of the import."""
    watched = "import gc; begun = []; gc.callbacks.append(lambda phase, _: begun.append(phase))"
    command = [sys.executable, "-c", f"{watched}\nimport workbench\nprint(begun.count('start'))"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(run.stdout) < 16


def test_the_first_c_needs_no_array():
    """NumPy is a quarter of the time to it."""
    assert not modules_after(GENERATED) & ({*HEAVY} - {"islpy", "lark"})


@pytest.mark.parametrize("part", NOT_FOR_C)
def test_the_first_c_loads_no_room_that_it_needs_not(part):
    path = PACKAGE.joinpath(*part.split("."))
    assert path.is_dir() or path.with_suffix(".py").is_file(), "the name is one of today"
    assert sorted(m for m in own_after(GENERATED) if f"{m}.".startswith(f"{part}.")) == []


def test_the_first_c_loads_the_steps_of_its_schedule_and_no_others():
    assert steps_among(own_after(GENERATED)) == STEPS


def test_the_first_c_takes_no_more_modules_than_it_did():
    assert 100 < len(own_after(GENERATED)) <= MOST_MODULES


def test_a_first_tile_loads_its_step_and_what_judges_it():
    tiled = f"{PRODUCT}\nassert (wb.schedule(matmul, M=64, N=64, K=64) | wb.tile(m=16, n=16)).verdict"
    own = own_after(tiled)
    assert steps_among(own) == {"tile", "split", "decompose_reduction"}
    rooms = {m.partition(".")[0] for m in own}
    assert {"schedules", "poly", "lang"} <= rooms
    assert not rooms & {"codegen", "runtime", "certificates", "fromc", "ops", "tune", "graph", "export", "viz"}
    assert not any(m.startswith(("schedules.recipes", "schedules.repairs", "schedules.sketches")) for m in own)
