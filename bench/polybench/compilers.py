"""Compilers that optimise the C text themselves, and what their loop optimisers need to be there."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

PRELUDE = """#include <math.h>
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) ((a) < (b) ? (a) : (b))
"""
COMMON = ("-O3", "-march=native", "-fPIC", "-shared", "-w")
TRIAL = "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] *= 2; }"
SECONDS = 300


@dataclass(frozen=True, slots=True)
class Compiler:
    """`flags` for one thread, `parallel` besides for more ("{threads}" is their number)."""

    command: str
    flags: tuple[str, ...] = ()
    parallel: tuple[str, ...] = ()
    get: str = ""

    def line(self, threads: int, *, reassociate: bool) -> tuple[str, ...]:
        """Everything before the file names."""
        more = self.parallel if threads > 1 else ()
        fast = ("-ffast-math",) if reassociate else ()
        return (self.command, *COMMON, *fast, *self.flags, *(f.format(threads=threads) for f in more))


_POLLY = ("-mllvm", "-polly", "-mllvm", "-polly-vectorizer=stripmine")
COMPILERS = {
    "sequential": Compiler("gcc"),
    "gcc -O3": Compiler("gcc", (), ("-ftree-parallelize-loops={threads}",)),
    "gcc Graphite": Compiler(
        "gcc",
        ("-floop-nest-optimize",),
        ("-floop-parallelize-all", "-ftree-parallelize-loops={threads}"),
        "a gcc that was built with isl",
    ),
    "clang Polly": Compiler(
        "clang",
        _POLLY,
        ("-mllvm", "-polly-parallel", "-lgomp"),
        "libpolly for this clang (Debian: libpolly-<version>-dev)",
    ),
}


@lru_cache(maxsize=16)
def missing(name: str) -> str:
    """Why a compiler cannot take part; "" if it can."""
    own = COMPILERS[name]
    if shutil.which(own.command) is None:
        return f"{own.command} is not installed"
    with TemporaryDirectory(prefix="workbench-bench-") as folder:
        said = compiled(own.line(2, reassociate=False), TRIAL, Path(folder) / "trial.so")
    return f"{own.command} does not take {' '.join(own.flags) or '-O3'}: install {own.get}" if said else ""


def version(name: str) -> str:
    """The first line of `--version`."""
    done = subprocess.run((COMPILERS[name].command, "--version"), capture_output=True, text=True, check=False)
    return done.stdout.partition("\n")[0]


def compiled(line: tuple[str, ...], text: str, library: Path) -> str:
    """Compile C text into a library; what the compiler said if it failed, "" otherwise."""
    source = library.with_suffix(".c")
    source.write_text(PRELUDE + text, encoding="utf-8")
    try:
        done = subprocess.run(
            (*line, "-o", str(library), str(source), "-lm"),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (done.stderr or f"exit status {done.returncode}")[:300] if done.returncode else ""
