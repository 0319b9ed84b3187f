"""Kernels that are only measured: compiled without the border, in half the time, called with bare pointers."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

from workbench.codegen.kernel import Kernel
from workbench.errors import BuildError
from workbench.runtime.building import refuse_missing_features
from workbench.runtime.compilers.complaints import failure
from workbench.runtime.compilers.entries import LIBRARY, SOURCE
from workbench.runtime.compilers.job import Job
from workbench.runtime.compilers.probing import compiler_variables
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.runtime.host.processes import CannotStart, run_limited
from workbench.runtime.kernels.border import BEFORE_KERNEL, kernel_part
from workbench.settings import current

MATHS, WHOLE_NUMBERS = "#include <math.h>", "#include <stdint.h>"
SHORT = """#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#if __has_include(<stdint-gcc.h>)
#include <stdint-gcc.h>
#else
#include <stdint.h>
#endif
"""
"""What stands for these headers where a kernel calls no mathematical function: the compiler's own types, and the two
constants.
"""

_NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|^[ \t]*#pragma[^\n]*|\"[^\"\n]*\"", re.DOTALL | re.MULTILINE)
_CALLED = re.compile(r"\b([A-Za-z_]\w*) ?\(")
_DEFINED = re.compile(r"^\w[^;=\n]*?\b(\w+)\(", re.MULTILINE)
_NO_FUNCTIONS = {
    "if", "for", "while", "switch", "return", "sizeof", "defined", "_Pragma", "else", "do", "case", "vector_size",
    "aligned", "void", "char", "int", "float", "double",
}  # fmt: skip
_OTHER_WORDS = re.compile(r"#include <(?!math\.h|stdint\.h)|\b(?:HUGE_VAL|M_[A-Z]|FP_|MATH_|float_t|double_t|signgam)")


def build_bare(kernel: Kernel, toolchain: Toolchain, folder: Path) -> Path:
    """The library of a kernel in `folder`, compiled with the flags of every other; BuildError if it cannot be had.

    The compiler belongs to the process group of the caller, and ends with it.
    """
    refuse_missing_features(kernel)
    before, source = BEFORE_KERNEL, kernel.source
    if toolchain.family == "gcc" and calls_no_maths(source):
        before, source = before + SHORT, source.replace(MATHS, "", 1).replace(WHOLE_NUMBERS, "")
    text = "\n".join([f"{before}#line 1\n{source}", _entry().replace("/* @KERNEL@ */", _known(kernel))])
    job = Job(kernel.name, text, toolchain, kernel.target, False, kernel.libraries)
    (folder / SOURCE).write_text(text, encoding="utf-8")
    limit = current().compile_seconds
    try:
        variables = {**compiler_variables(), "TMPDIR": str(folder)}
        finished = run_limited((*job.command(), *_quicker(job)), limit, folder, variables, own_group=False)
    except CannotStart as reason:
        raise BuildError(f"the compiler {toolchain.command[0]} cannot be started: {reason}") from reason
    if finished.code != 0 or not (folder / LIBRARY).exists():
        raise BuildError(failure(job, finished, limit))
    return folder / LIBRARY


def calls_no_maths(source: str) -> bool:
    """Whether C text calls nothing but what it defines and what the compiler has built in: then it does without the
    header of mathematical functions, which takes a twelfth of compiling a small kernel.
    """
    text = _NO_CODE.sub(" ", source)
    called = {n for n in _CALLED.findall(text) if n not in _NO_FUNCTIONS and not n.startswith(("wb_", "WB_", "__"))}
    return MATHS in source and not _OTHER_WORDS.search(text) and called <= {*_DEFINED.findall(text)}


def _quicker(job: Job) -> tuple[str, ...]:
    """Flags for a link in a third of the time, where they are safe: the process that loads the library has the C
    library already, and reading its thousands of symbols is most of a small link.  Nothing is to be done before the
    entry is called or at the end, and nothing is optimised when it is linked.  Threads need those of their versions.
    """
    safe = job.toolchain.family == "gcc" and sys.platform == "linux" and "-pthread" not in job.flags
    return ("-nodefaultlibs", "-nostartfiles", "-fno-use-linker-plugin", "-lgcc") if safe else ()


def _known(kernel: Kernel) -> str:
    return kernel_part(kernel.signature)


@cache
def _entry() -> str:
    return Path(__file__).with_name("bare.c").read_text()
