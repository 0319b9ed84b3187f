"""The engine `c`: a region as C sources, one file a call and one that calls them in order, in one shared library.

The library holds no constants: whoever calls it gives an array of pointers, one for each value of the region.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.codegen import generate
from workbench.codegen.kernel import ArrayParameter, Kernel
from workbench.errors import EngineError
from workbench.graph.engines.arrays.lowering import sizes_of
from workbench.graph.engines.engine_records import Answer, engine
from workbench.graph.engines.sites import Site
from workbench.graph.engines.subgraphs import Step, Subgraph
from workbench.graph.evaluation.operators import inputs_of
from workbench.runtime import this_machine
from workbench.runtime.compilers.compiling import loaded_library
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.runtime.host.processes import run_limited
from workbench.schedules import schedule
from workbench.settings import current

LIBRARY, FUNCTION, WORKSPACE = "region.so", "wb_region", "wb_region_workspace"
ALIGNMENT = 64
ELEMENTS = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")


@dataclass(eq=False)
class CRegion:
    """A loaded library and the region it was made of; it may be called by several threads at once."""

    region: Subgraph
    library: bytes
    run: Callable[[Any, Any], int]
    workspace_bytes: int

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """The results for arrays; EngineError where a subscript found in data is out of range."""
        values: dict[int, Any] = dict(zip(self.region.inputs, map(np.ascontiguousarray, arrays), strict=True))
        values |= {number: np.ascontiguousarray(each) for number, each in self.region.constants.items()}
        for number, of in self.region.types.items():
            if number not in values:
                values[number] = np.zeros(tuple(map(int, of.shape)), of.dtype.numpy)
        pointers = (ctypes.c_void_p * len(values))(*(values[at].ctypes.data for at in range(len(values))))
        workspace = np.empty(self.workspace_bytes + ALIGNMENT, np.uint8)
        failed = self.run(pointers, workspace.ctypes.data + -workspace.ctypes.data % ALIGNMENT)
        if failed:
            raise EngineError(f"call {failed - 1} found a subscript out of range: {self.region.steps[failed - 1]}")
        return tuple(values[each] for each in self.region.results)


@engine("c")
class c:
    """Regions as C, compiled by the compiler that builds kernels; each call in the order of its definition."""

    def supports(self, site: Site) -> Answer:
        """Whether a call can be written in C by itself."""
        odd = [name for name in site.dtypes if name not in ELEMENTS]
        if odd:
            return f"elements of {odd[0]}"
        if site.operator.promises:
            return "it promises something about data, which is checked by the host"
        return True

    def compile(self, region: Subgraph) -> CRegion:
        """Write, compile and load."""
        with tempfile.TemporaryDirectory(prefix="workbench-") as place:
            folder = Path(place)
            for name, text in _sources(region).items():
                (folder / name).write_text(text, encoding="utf-8")
            _compile(folder)
            return _loaded(region, folder)

    def save(self, compiled: CRegion, folder: Path) -> None:
        """Write the sources and the library."""
        for name, text in _sources(compiled.region).items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / LIBRARY).write_bytes(compiled.library)

    def load(self, region: Subgraph, folder: Path) -> CRegion:
        """Load the library."""
        return _loaded(region, folder)


def _sources(region: Subgraph) -> dict[str, str]:
    """Name → text of every file."""
    kernels = [_kernel(step) for step in region.steps]
    found = {f"call_{at}.c": _renamed(kernel, at) for at, kernel in enumerate(kernels)}
    lines = ["#include <stdint.h>", "#include <string.h>", "#include <stdbool.h>", "#include <stddef.h>", ""]
    lines += [_declared(kernel, at) for at, kernel in enumerate(kernels)]
    lines += ["", f'__attribute__((visibility("default"))) int {FUNCTION}(void **v, void *w)', "{"]
    for at, (step, kernel) in enumerate(zip(region.steps, kernels, strict=True)):
        lines += [f"    /* {step} */", *_called(region, step, kernel, at)]
    lines += ["    return 0;", "}", "", f'__attribute__((visibility("default"))) int64_t {WORKSPACE}(void)', "{"]
    lines += ["    int64_t most = 0, own;"]
    lines += [f"    own = wb_call_{at}_workspace(1); most = own > most ? own : most;" for at in range(len(kernels))]
    return {**found, "region.c": "\n".join([*lines, "    return most;", "}", ""])}


def _kernel(step: Step) -> Kernel:
    """One call as it is defined, for its sizes."""
    sizes = sizes_of(step.site)
    kernel = generate(schedule(step.operator, sizes=sizes), this_machine())
    if kernel.signature.symbols or kernel.libraries:
        raise EngineError(f"{step.operator.name}: its kernel needs more than arrays")
    return kernel


def _renamed(kernel: Kernel, at: int) -> str:
    name = kernel.signature.function
    return f"#define {name} wb_call_{at}\n#define {name}_workspace wb_call_{at}_workspace\n{kernel.source}"


def _parameters(kernel: Kernel) -> list[ArrayParameter]:
    """In the order of the function: arrays, then what is given by value."""
    arrays = kernel.signature.arrays
    return [*(each for each in arrays if not each.by_value), *(each for each in arrays if each.by_value)]


def _declared(kernel: Kernel, at: int) -> str:
    given = [each.dtype.c_name if each.by_value else "void *" for each in _parameters(kernel)]
    return f"int wb_call_{at}({', '.join([*given, 'void *', 'int'])});\nint64_t wb_call_{at}_workspace(int);"


def _called(region: Subgraph, step: Step, kernel: Kernel, at: int) -> list[str]:
    """Old contents of what is updated are copied first."""
    op = step.operator
    places = dict(zip(inputs_of(op), step.arguments, strict=False)) | dict(zip(op.outputs, step.results, strict=True))
    updated = [name for name in op.outputs if op.tensors[name].role == "inout"]
    old = step.arguments[len(inputs_of(op)) :]
    copies = [
        f"    memcpy(v[{places[name]}], v[{number}], {region.types[number].bytes});"
        for name, number in zip(updated, old, strict=True)
    ]
    given = [
        f"*({each.dtype.c_name} *)v[{places[each.name]}]" if each.by_value else f"v[{places[each.name]}]"
        for each in _parameters(kernel)
    ]
    return [*copies, f"    if (wb_call_{at}({', '.join([*given, 'w', '1'])})) return {at + 1};"]


def _compile(folder: Path) -> None:
    toolchain = preferred_toolchain()
    files = sorted(path.name for path in folder.glob("*.c"))
    command = (*toolchain.command, *toolchain.flags(this_machine()), "-o", LIBRARY, *files, *toolchain.libraries)
    finished = run_limited(command, current().compile_seconds, folder)
    if finished.code != 0:
        raise EngineError(f"the compiler refused the sources: {finished.output.strip().splitlines()[:3]}")


def _loaded(region: Subgraph, folder: Path) -> CRegion:
    try:
        handle = loaded_library(folder / LIBRARY)
    except OSError as error:
        raise EngineError(f"the library cannot be loaded: {error}") from error
    run, workspace = getattr(handle, FUNCTION), getattr(handle, WORKSPACE)
    run.argtypes, run.restype = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p], ctypes.c_int
    workspace.restype = ctypes.c_int64
    return CRegion(region, (folder / LIBRARY).read_bytes(), run, workspace())


