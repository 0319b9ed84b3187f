"""The languages that kernels are written in, one record each: what is asked about a dialect stands here.

A new dialect is one entry here, and its spelling.  What stands in rooms is named as "module:attribute" and loaded when
it is first asked for: who writes C does not wait for GPUs, and this table stands below all rooms that read it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from workbench.records import record


@record(slots=True)
class Dialect:
    """A language for kernels.

    `for_gpu` ones have kernels for blocks of threads; `vector_bits` is the width of a register of a plain target.
    `writer` makes a kernel of a schedule, `recipe` a schedule of a program, `bound` binds what a schedule left unbound;
    `builder` makes a callable of a kernel, "" where the workbench writes text only.  `spelling` says what the language
    has for barriers, indices, memory spaces, qualifiers, atomics and the head of a kernel; `parallel` are the
    constructs that a parallel loop may become.  `warps`: instructions of NVIDIA's warps are at hand;
    `atomic_bits` has the narrowest element that many threads may update.  `words` are
    coloured as keywords in the panel, `types` as types; `label` is the dialect's name there.
    """

    name: str
    label: str
    writer: str
    recipe: str
    bound: str = ""
    builder: str = ""
    spelling: str = ""
    for_gpu: bool = True
    vector_bits: int = 32
    parallel: tuple[str, ...] = ()
    warps: bool = False
    atomic_bits: int = 8
    words: tuple[str, ...] = ()
    types: tuple[str, ...] = ()

    @property
    def runs_on_gpu(self) -> bool:
        """Whether the workbench compiles it for a GPU and runs it there; others for GPUs it only writes."""
        return self.for_gpu and bool(self.builder)

    def load(self, what: str) -> Any:
        """What stands behind one of the names: `dialect.load("recipe")`."""
        module, _, name = getattr(self, what).partition(":")
        return getattr(import_module(module), name)


GPU_WRITER = "workbench.codegen.generation:gpu_kernel"
GPU_RECIPE = "workbench.schedules.recipes.gpu.default:gpu_schedule"
ALL_BOUND = "workbench.schedules.recipes.gpu.default:all_bound"
CUDA_WORDS = ("__global__", "__device__", "__shared__")
OPENCL_WORDS = ("__kernel", "__global", "__local", "__private", "__constant")

DIALECTS: dict[str, Dialect] = {
    d.name: d
    for d in (
        Dialect(
            "c", "C", "workbench.codegen.generation:c_kernel", "workbench.schedules.recipes:default_schedule",
            builder="workbench.runtime.building:compiled", for_gpu=False, vector_bits=128,
            parallel=("openmp", "pool", "host", "serial"),
        ),
        Dialect(
            "cuda", "CUDA", GPU_WRITER, GPU_RECIPE, ALL_BOUND, "workbench.runtime.gpu.building:build_on_gpu",
            "workbench.codegen.cuda.dialect:CUDA", warps=True, words=CUDA_WORDS,
            types=("half", "__half", "__nv_bfloat16"),
        ),
        Dialect(
            "hip", "HIP", GPU_WRITER, GPU_RECIPE, ALL_BOUND, spelling="workbench.codegen.cuda.dialect:HIP",
            words=CUDA_WORDS,
        ),
        Dialect(
            "opencl", "OpenCL", GPU_WRITER, GPU_RECIPE, ALL_BOUND, spelling="workbench.codegen.opencl:OPENCL",
            atomic_bits=32, words=OPENCL_WORDS, types=("uchar", "ushort", "uint", "ulong"),
        ),
    )
}  # fmt: skip
GPU_DIALECTS = tuple(d.name for d in DIALECTS.values() if d.for_gpu)
