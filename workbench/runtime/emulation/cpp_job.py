"""The compiler run that makes a library of CUDA text: flags for C++, plain or watched."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from workbench.errors import BuildError
from workbench.records import record
from workbench.runtime.compilers.discovery import every_toolchain, preferred_toolchain
from workbench.runtime.compilers.entries import LIBRARY, SOURCE
from workbench.runtime.compilers.job import Job
from workbench.runtime.compilers.probing import PROBE_SECONDS, compiler_variables
from workbench.runtime.compilers.toolchain import (
    CLANG,
    NULL_IS_NO_PROOF,
    REORDERING_PASSES,
    TUNE_HERE,
    ZEROS_HAVE_SIGNS,
    Toolchain,
)
from workbench.runtime.emulation.device_library import device_functions_in
from workbench.runtime.emulation.instructions import instructions_in
from workbench.runtime.host.processes import CannotStart, run_limited
from workbench.settings import current

# No C++ library is needed, neither its headers nor at run time.
LANGUAGE = (
    "-x", "c++", "-std=gnu++17", "-nostdinc++", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-exceptions",
    "-fno-rtti", "-fwrapv", "-fno-strict-aliasing", "-fno-math-errno", "-w",
)  # fmt: skip
PLAIN = ("-O2", "-fno-trapping-math", "-ffp-contract=fast")
# As for kernels in C: the order of the text stays.
FAMILIES = {"gcc": REORDERING_PASSES, "clang": CLANG, "zig": CLANG}
# Without optimisation every access of the text is made, where it stands.  The hooks are our own.
WATCHED = ("-O0", "-gdwarf-4")
# Volatile reads are told apart: what is updated atomically may be looked at.
VOLATILE = ("-Xclang", "-mllvm", "-Xclang", "-tsan-distinguish-volatile=1")
# `zig cc` would build a runtime library for these flags, which takes minutes; its compiler proper needs none.
SANITIZED = {
    "gcc": ("-fsanitize=thread,bounds", "--param=tsan-distinguish-volatile=1"),
    "clang": ("-fsanitize=thread,bounds", *VOLATILE),
    "zig": ("-Xclang", "-fsanitize=thread", "-Xclang", "-fsanitize=array-bounds", *VOLATILE),
}
OWN_LIBRARIES = {"gcc": ("-nodefaultlibs", "-lm", "-lc", "-lgcc"), "clang": ("-lm",), "zig": ("-lm",)}
ZIG = ("-fno-stack-protector", "-fno-sanitize=undefined")

# After the first comes what watches, or does not.
PRELUDE = ("fibers.hpp", "cuda_names.hpp", "crews.hpp", "cuda_values.hpp")
THREAD_ARRAY = re.compile(r"^( +(?:__align__\(16\) )?)(\w+) (\w+)\[(\d+)\]( = \{\})?;$", re.MULTILINE)

_PROBE = """#include <math.h>
template <class T> T half(T x) { return x / 2; }
float probe(float x) { return half(expf(x)); }
"""
_NONE = (
    "no C++ compiler was found, and kernels for a GPU are executed on the processor as C++. Install one (apt install "
    "g++, dnf install gcc-c++, xcode-select --install), or `pip install ziglang`, which needs no rights"
)


@record(slots=True)
class CppJob(Job):
    """CUDA text with its prelude, to be compiled as C++; `watched` with a look at every access of memory."""

    watched: bool = False

    @property
    def flags(self) -> tuple[str, ...]:
        tuned = [f for f in TUNE_HERE if f in self.toolchain.accepted][:1]
        watched = (*WATCHED, *SANITIZED[self.toolchain.family])
        own = {"zig": ZIG, "gcc": (NULL_IS_NO_PROOF, ZEROS_HAVE_SIGNS), "clang": ()}[self.toolchain.family]
        order = FAMILIES[self.toolchain.family]
        return (*LANGUAGE, *(watched if self.watched else (*PLAIN, *order, *tuned)), *own)

    def command(self) -> tuple[str, ...]:
        """The command line, for the directory that holds the source."""
        libraries = OWN_LIBRARIES[self.toolchain.family] if self.watched else ("-lm",)
        return (*self.toolchain.command, *self.flags, "-o", LIBRARY, SOURCE, *libraries)


def unit_text(source: str, kernels: tuple[str, ...], *, watched: bool) -> str:
    """The text to compile: the prelude, the CUDA text as it is, an entry for each kernel.

    In a `watched` text arrays of a thread are declared as arrays that notice who touches them.
    """
    entries = "".join(f"WB_CPU_KERNEL({name})\n" for name in dict.fromkeys(kernels))
    before = _prelude(watched=watched) + instructions_in(source) + device_functions_in(source)
    if watched:
        source = THREAD_ARRAY.sub(_noticing, source)
    return f'{before}\n#line 1 "kernel.cu"\n{source}\n#line 1 "entries"\n{entries}'


def _noticing(declared: re.Match[str]) -> str:
    """`float own[4];` as `::wb_cpu::Array<float, 4> own(__LINE__);`."""
    indent, kind, name, count, zeros = declared.groups()
    return f"{indent}::wb_cpu::Array<{kind}, {count}> {name}(__LINE__{', true' if zeros else ''});"


@cache
def _prelude(*, watched: bool) -> str:
    watch = ("watching.hpp", "thread_arrays.hpp") if watched else ("unwatched.hpp",)
    folder = files("workbench.runtime.emulation")
    return "".join((folder / name).read_text(encoding="utf-8") for name in (PRELUDE[0], *watch, *PRELUDE[1:]))


def cpp_toolchain() -> Toolchain:
    """The first compiler of this machine that compiles C++, or the one that the settings name.

    BuildError if there is none.
    """
    preferred = preferred_toolchain()
    if _compiles(preferred.command):
        return preferred
    if current().compiler is not None:
        what = f"the compiler {preferred.name} does not compile C++"
        raise BuildError(f"{what}, and kernels for a GPU are executed on the processor as C++; choose another one")
    for found in every_toolchain():
        if _compiles(found.command):
            return found
    raise BuildError(_NONE)


@cache
def _compiles(command: tuple[str, ...]) -> bool:
    """Whether a compiler makes a library of some C++ (memoised)."""
    with TemporaryDirectory(prefix="tensor-workbench-") as name:
        folder = Path(name)
        (folder / SOURCE).write_text(_PROBE)
        try:
            tried = (*command, *LANGUAGE, "-o", LIBRARY, SOURCE, "-lm")
            return run_limited(tried, PROBE_SECONDS, folder, compiler_variables()).code == 0
        except CannotStart:
            return False
