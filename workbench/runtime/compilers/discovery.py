"""Find the C compilers of this machine."""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from workbench.errors import BuildError, shown
from workbench.runtime.compilers.probing import examined
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.settings import current

ON_PATH = ("gcc", "clang", "cc")
_NONE_FOUND = (
    "no C compiler was found. Install one (apt install gcc, dnf install gcc, xcode-select --install), or "
    "`pip install ziglang`, which needs no rights and is used by itself; or name one with "
    "settings(compiler=...) or WORKBENCH_CC."
)


def preferred_toolchain() -> Toolchain:
    """The compiler that builds kernels here: the one the settings name, else the first that is found.

    Raises BuildError when there is none, or when the one named cannot be used.
    """
    wanted = current().compiler
    if wanted is not None:
        return _named(wanted)
    return examined(_preferred())


def every_toolchain() -> tuple[Toolchain, ...]:
    """Every compiler found on this machine, the preferred one first; those that do not work are left out."""
    found: dict[str, Toolchain] = {}
    for command in _candidates():
        try:
            known = examined(command)
        except BuildError:
            continue
        found.setdefault(known.family, known)
    return tuple(found.values())


def _named(wanted: str) -> Toolchain:
    """The compiler of a name or path; "zig" and paths that end in zig mean `zig cc`."""
    command = (wanted,)
    if Path(wanted).name == "zig":
        command = _zig() if wanted == "zig" else (wanted, "cc")
    path = shutil.which(command[0]) if command else None
    if path is None:
        known = ", ".join(compiler_names()) or "none"
        hint = "; `pip install ziglang` brings zig" if wanted == "zig" else ""
        raise BuildError(f"the compiler {shown(wanted)} was not found{hint}. Compilers found here: {known}")
    return examined((path, *command[1:]))


def compiler_names() -> list[str]:
    """Names of the compilers there are.  They are not tried: a first `zig cc` takes a minute."""
    found: dict[str, str] = {}
    for program, *more in _candidates():
        found.setdefault(str(Path(program).resolve()), "zig" if more else Path(program).name)
    return list(found.values())


@cache
def _preferred() -> tuple[str, ...]:
    """The command of the first compiler there is (memoised: PATH is searched once)."""
    for command in _candidates():
        if command[-1:] == ("cc",) and len(command) > 1:
            _say_zig_is_used()
        return command
    raise BuildError(_NONE_FOUND)


def _say_zig_is_used() -> None:
    warnings.warn(
        "no gcc or clang was found: kernels are compiled by the installed `zig cc`, which has no OpenMP "
        "(parallel loops run on a pool of threads that comes with the kernel). With gcc they may be faster.",
        RuntimeWarning,
        stacklevel=3,
    )


def _candidates() -> Iterator[tuple[str, ...]]:
    """Commands that may be compilers, the preferred first."""
    for name in ON_PATH:
        path = shutil.which(name)
        if path is not None:
            yield (path,)
    zig = _zig()
    if zig:
        yield zig


def _zig() -> tuple[str, ...]:
    """`zig cc`: the zig on PATH, else the one that came with the package ziglang, else nothing."""
    path = shutil.which("zig")
    if path is None:
        spec = find_spec("ziglang")
        beside = Path(spec.origin).parent / "zig" if spec is not None and spec.origin else None
        if beside is None:
            return ()
        if not beside.is_file():
            return (sys.executable, "-m", "ziglang", "cc")
        path = str(beside)
    return (path, "cc")
