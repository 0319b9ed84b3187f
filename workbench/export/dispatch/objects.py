"""From several C files to one library: each is compiled with the flags of its level, and only when it is new."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

from workbench.errors import BuildError
from workbench.export.dispatch.levels import Level
from workbench.records import record
from workbench.runtime.compilers.entries import content_key, put, staging
from workbench.runtime.compilers.probing import compiler_variables
from workbench.runtime.compilers.storage import subdirectory, write_file
from workbench.runtime.compilers.toolchain import Family, Toolchain
from workbench.runtime.host.processes import CannotStart, run_limited
from workbench.settings import current
from workbench.target import Target

CPP_COMPILERS = ("g++", "clang++", "c++")
PLAIN = Target(name="plain", march="x86-64", parallel="serial")


@record(slots=True)
class Source:
    """A C file to be compiled for a target (None: plainly), and what it is linked with.

    A `command` (compiler and flags) compiles it instead of the C compiler, and links the library.
    """

    name: str
    text: str
    target: Target | None = None
    libraries: tuple[str, ...] = ()
    command: tuple[str, ...] = ()


def linked(
    name: str, sources: Sequence[Source], headers: Mapping[str, str | bytes], toolchain: Toolchain
) -> Path:  # fmt: skip
    """The shared library of some files, from the cache if nothing is new; BuildError with the compiler's words.

    `headers` are what the sources include, texts or bytes.
    """
    compile_commands = [
        (s, (*s.command, "-c") if s.command else (*toolchain.command, "-c", *_flags_of(toolchain, s.target)))
        for s in sources
    ]
    beside = {n: text.encode() if isinstance(text, str) else text for n, text in headers.items()}
    key = content_key(name, [(s.name, s.text, s.libraries, c) for s, c in compile_commands],
                      sorted((n, sha256(content).hexdigest()) for n, content in beside.items()),
                      toolchain.version)  # fmt: skip
    libraries = dict.fromkeys(f for s in sources for f in (*s.libraries, *toolchain.libraries))
    folder = subdirectory("exports") / key
    library = folder / f"lib{name}.so"
    if library.is_file():
        return library
    with staging(folder.parent) as own:
        for each in (*beside.items(), *((s.name, s.text.encode()) for s in sources)):
            write_file(own / each[0], each[1])
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            objects = list(pool.map(lambda both: _object(own, *both), compile_commands))
        linker = next((s.command[:1] for s in sources if s.command), toolchain.command)
        link = (*linker, "-shared", "-pthread", "-o", library.name, *objects, *libraries)
        _run(link, own, f"linking {name}")
        put(own, folder)
    return library


def cpp_compiler(purpose: str) -> str:
    """The path of a C++ compiler; BuildError with what it is needed for if there is none."""
    compiler = next(filter(None, map(shutil.which, CPP_COMPILERS)), None)
    if compiler is None:
        raise BuildError(f"{purpose}; install {CPP_COMPILERS[0]} or {CPP_COMPILERS[1]}")
    return compiler


def _flags_of(toolchain: Toolchain, target: Target | None) -> tuple[str, ...]:
    """What a file is compiled with."""
    flags = [f for f in toolchain.flags(target or PLAIN) if f != "-shared"]
    if toolchain.family == "zig":  # which spells its processors otherwise
        flags = [f.replace("x86-64-", "x86_64_").replace("x86-64", "x86_64") for f in flags]
    return tuple(f for f in flags if target is not None or not f.startswith(("-march", "-mcpu")))


def _object(folder: Path, source: Source, command: tuple[str, ...]) -> str:
    made = f"{Path(source.name).stem}.o"
    _run((*command, "-o", made, source.name), folder, f"compiling {source.name}")
    return made


def _run(command: tuple[str, ...], folder: Path, what: str) -> None:
    try:
        done = run_limited(command, current().compile_seconds, folder, compiler_variables())
    except CannotStart as reason:
        raise BuildError(f"{what}: the compiler {command[0]} cannot be started: {reason}") from reason
    if done.code != 0:
        raise BuildError(f"{what}: {Path(command[0]).name} {done}\n{done.output[:4000]}")


# -- the same by somebody else's build system --


def common_flags(family: Family) -> tuple[str, ...]:
    """What every file of a library is compiled with by compilers of a family, whoever compiles it."""
    plain = Toolchain(family, family, (family,), "", frozenset(("-fopenmp-simd",)))
    return _flags_of(plain, None)


def level_flags(level: Level) -> str:
    """What the kernels of a level are compiled with, as CMake takes it."""
    wide = ";-mprefer-vector-width=512" if level.target.vector_bits >= 512 and not level.target.is_arm else ""
    sve = f";-msve-vector-bits={level.target.vector_bits}" if "sve" in level.target.isa else ""
    return f"-march={level.target.march}{wide}{sve}"
