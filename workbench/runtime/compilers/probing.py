"""Learn what a compiler is and which optional flags it takes; remembered on disk."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import cast

from workbench.errors import BuildError
from workbench.runtime.compilers.storage import is_full, subdirectory, write_file
from workbench.runtime.compilers.toolchain import OPENMP, OPTIONAL, USUAL, ZIG_ACCEPTS, Family, Toolchain
from workbench.runtime.host.processes import CannotStart, Finished, run_limited

# A first `zig cc` builds its runtime library, which can take half a minute.
PROBE_SECONDS = 120.0

_WHERE_PLACE = "Free space, or choose another directory for temporary files with TMPDIR"

_PLAIN = "#include <math.h>\nfloat probe(float x) { return expf(x); }\n"
_OPENMP = """#include <omp.h>
int probe(void) {
    int sum = 0;
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 9; ++i) sum += omp_get_thread_num();
    return sum;
}
"""


def examined(command: tuple[str, ...]) -> Toolchain:
    """What is known of the compiler that `command` starts; the file's size and time tell if it is still true.

    Raises BuildError when it cannot be started or does not compile C.
    """
    try:
        status = os.stat(os.path.realpath(command[0]))
    except OSError as reason:
        raise BuildError(f"the compiler {command[0]} cannot be used: {reason.strerror}") from reason
    return _known(command, status.st_size, status.st_mtime_ns)


@cache
def _known(command: tuple[str, ...], size: int, time: int) -> Toolchain:
    identity = repr((command, size, time, OPTIONAL, os.environ.get("SDKROOT")))
    file = subdirectory("toolchains") / f"{hashlib.sha256(identity.encode()).hexdigest()[:24]}.json"
    found = _recalled(file)
    if found is None or found.command != command:
        found = _examine(command)
        _remember(file, found)
    return found


def _recalled(file: Path) -> Toolchain | None:
    try:
        fields = json.loads(file.read_text())
        return Toolchain(
            fields["name"],
            fields["family"],
            tuple(fields["command"]),
            fields["version"],
            frozenset(fields["accepted"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _remember(file: Path, found: Toolchain) -> None:
    try:
        write_file(file, json.dumps({**asdict(found), "accepted": sorted(found.accepted)}).encode())
    except OSError:
        return  # it will be asked again next time


def _examine(command: tuple[str, ...]) -> Toolchain:
    """Ask a compiler for its version and try the optional flags."""
    answer = _run((*command, "--version"), None)
    if answer.code != 0:
        said = _first_lines(answer.output) or "it said nothing"
        raise BuildError(f"{' '.join(command)} --version {answer}: {said}. Is it a C compiler?")
    version = _line(answer.output.strip().partition("\n")[0]) or "unknown version"
    family = _family(command, answer.output)
    try:
        with tempfile.TemporaryDirectory(prefix="tensor-workbench-") as folder:
            accepted = _accepted(command, family, Path(folder))
    except OSError as reason:
        raise BuildError(f"no place to try the compiler {command[0]}: {reason}. {_WHERE_PLACE}") from reason
    return Toolchain(Path(command[0]).name, family, command, version, accepted)


def _family(command: tuple[str, ...], version: str) -> Family:
    if command[-1] == "cc" and len(command) > 1:
        return "zig"
    return "gcc" if "Free Software Foundation" in version or "gcc" in version else cast(Family, "clang")


def _accepted(command: tuple[str, ...], family: Family, folder: Path) -> frozenset[str]:
    """The optional flags that compile and link: all together at first, which is the common case."""
    usual = ZIG_ACCEPTS if family == "zig" else USUAL
    if _compiles(command, usual, folder):
        return frozenset(usual)
    if not _compiles(command, (), folder):
        plain = _try(command, (), folder)
        if is_full(folder, plain.output):
            raise OSError(errno.ENOSPC, "No space left on device", str(folder))
        said = _first_lines(plain.output) or "it said nothing"
        what = f"cannot build a library from two lines of C (it {plain}: {said}). Is it a C compiler?"
        raise BuildError(f"{' '.join(command)} {what}")
    return frozenset(flag for flag in OPTIONAL if _compiles(command, (flag,), folder))


def _compiles(command: tuple[str, ...], flags: tuple[str, ...], folder: Path) -> bool:
    return _try(command, flags, folder).code == 0 and (folder / "probe.so").exists()


def _try(command: tuple[str, ...], flags: tuple[str, ...], folder: Path) -> Finished:
    (folder / "probe.c").write_text(_OPENMP if OPENMP in flags else _PLAIN)
    (folder / "probe.so").unlink(missing_ok=True)
    shared = ("-Werror", "-fPIC", "-shared", "-o", "probe.so", "probe.c")
    return _run((*command, *shared, *flags, "-lm"), folder)


def _run(command: tuple[str, ...], folder: Path | None) -> Finished:
    try:
        return run_limited(command, PROBE_SECONDS, folder, compiler_variables())
    except CannotStart as reason:
        raise BuildError(f"{command[0]} cannot be started: {reason}") from reason
    except OSError as reason:
        raise BuildError(f"no place to try the compiler {command[0]}: {reason}. {_WHERE_PLACE}") from reason


def compiler_variables() -> dict[str, str]:
    """Environment of a compiler: zig keeps a cache of its own, and not every machine has a home for it."""
    if "ZIG_GLOBAL_CACHE_DIR" in os.environ or os.access(os.path.expanduser("~/"), os.W_OK):
        return {}
    return {"ZIG_GLOBAL_CACHE_DIR": str(subdirectory("zig"))}


def _first_lines(text: str) -> str:
    return " / ".join(_line(line) for line in text.strip().splitlines()[:3])


def _line(text: str) -> str:
    """What can be printed of a line, at most 200 characters."""
    return "".join(c for c in text[:200] if c.isprintable())
