"""The C++ between PyTorch's dispatcher and our kernels: compiled once for each version of PyTorch, and loaded."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import torch

from workbench.errors import BuildError
from workbench.export.cuda.library import gpu_file
from workbench.export.dispatch import runtime_file
from workbench.export.dispatch.objects import cpp_compiler
from workbench.export.hosts import host_file
from workbench.runtime.compilers.entries import content_key, put, staging
from workbench.runtime.compilers.probing import compiler_variables
from workbench.runtime.compilers.storage import subdirectory, write_file
from workbench.runtime.host.processes import CannotStart, run_limited
from workbench.settings import current

FLAGS = ("-O2", "-std=c++20", "-fPIC", "-shared", "-w", "-fvisibility=hidden")
LEAST_SECONDS = 600.0
OLDEST = (2, 11)
PREPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_uint64)
PREPARE_ON_GPU = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_int)


@cache
def glue() -> Any:
    """The loaded library; BuildError without a C++ compiler, or with its words."""
    if tuple(map(int, torch.__version__.split(".")[:2])) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise BuildError(f"operators are registered with PyTorch {needed} or a newer one; this is {torch.__version__}")
    found = ctypes.CDLL(str(_library()))
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    bits = ctypes.c_uint64
    for name, result, arguments in (
        ("failure", text, []),
        ("open", pointer, [pointer]),
        ("register", pointer, [text, text, PREPARE, PREPARE_ON_GPU]),
        ("implement", None, [pointer, pointer, number]),
        ("implement_on_gpu", None, [pointer, pointer, number, number]),
        ("not_on_gpu", None, [pointer, text]),
        ("gradient", number, [pointer, bits, text, text, pointer, number, pointer, number]),
        ("no_gradient", None, [pointer, bits, text]),
        ("last_kernel", text, [pointer, number]),
    ):
        function = getattr(found, f"wb_torch_{name}")
        function.restype, function.argtypes = result, arguments
    return found


def _library() -> Path:
    compiler = cpp_compiler("operators of PyTorch are registered by C++")
    sources = {"glue.cpp": Path(__file__).with_name("glue.cpp").read_text()}
    sources |= {"dispatch.h": runtime_file("dispatch.h"), "gpu.h": gpu_file("gpu.h")}
    sources |= {n: host_file(n) for n in ("host.h", "torch_loops.h")}
    folder = subdirectory("exports") / content_key("glue", torch.__version__, compiler, FLAGS, sorted(sources.items()))
    library = folder / "glue.so"
    if not library.is_file():
        with staging(folder.parent) as own:
            _compile(compiler, sources, own)
            put(own, folder)
    return library


def _compile(compiler: str, sources: dict[str, str], folder: Path) -> None:
    for name, text in sources.items():
        write_file(folder / name, text.encode())
    home = Path(str(torch.__file__)).parent
    includes = [f"-I{home / 'include'}", f"-I{home / 'include/torch/csrc/api/include'}", "-I."]
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
    libraries = [f"-L{home / 'lib'}", f"-Wl,-rpath,{home / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
    command = (compiler, *FLAGS, abi, *includes, "-o", "glue.so", "glue.cpp", *libraries)
    try:
        done = run_limited(command, max(LEAST_SECONDS, current().compile_seconds), folder, compiler_variables())
    except CannotStart as reason:
        raise BuildError(f"the C++ compiler {compiler} cannot be started: {reason}") from reason
    if done.code != 0:
        what = f"on what registers operators of PyTorch {torch.__version__}"
        raise BuildError(f"{compiler} {done} {what}:\n{done.output}")
