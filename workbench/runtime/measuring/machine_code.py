"""The machine code of a built kernel, read with objdump: functions, and instructions with their line of C.

What runs is the library; it has no lines.  So the same text is compiled once more with `-g1`, which adds lines and
changes no instruction: that the two agree is checked, and said.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

from workbench.errors import BuildError
from workbench.records import record
from workbench.runtime.compilers.entries import SOURCE
from workbench.runtime.compilers.probing import compiler_variables
from workbench.runtime.host.processor import this_processor
from workbench.runtime.kernels.launch import CompiledKernel

SECONDS = 60
GET_OBJDUMP = "objdump is not found: install binutils (Debian, Ubuntu: apt install binutils)"

LINKERS = (
    "_init", "_fini", "__pthread_atfork", "__do_global_dtors_aux", "deregister_tm_clones", "register_tm_clones",
    "frame_dummy",
)  # fmt: skip

OURS = ("wb_border_", "wb_pool_", "wb_bare_")
"""Beginnings of the names of functions that stand around every kernel."""

_FUNCTION = re.compile(r"^[0-9a-f]+ <([^>]+)>:$")
_PLACE = re.compile(r"^\S*/?kernel\.c:(\d+)(?: \(discriminator \d+\))?$")
_INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t(?:\{\w+\} )?(\S+)(?:\s+(.*?))?\s*$")
_JUMP = re.compile(r"^([0-9a-f]+) <([^>+]+)(?:\+0x[0-9a-f]+)?>$")


@record(slots=True)
class Instruction:
    """One instruction in Intel's syntax: `line` of the kernel's text (0: none), `target` of a jump in its function."""

    address: int
    name: str
    operands: str
    line: int = 0
    target: int | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.operands}".strip()


@record(slots=True)
class Function:
    """A function and its instructions in the order of their addresses."""

    name: str
    instructions: tuple[Instruction, ...]


@record(slots=True)
class MachineCode:
    """What a compiler made of a kernel's own functions; `same` says that the lines are those of the library's code."""

    made_by: str
    functions: tuple[Function, ...]
    same: bool = True


def why_unreadable() -> str:
    """Why machine code cannot be read on this machine; "" where it can."""
    if this_processor().architecture not in ("x86_64", "AMD64"):
        return f"machine code of {this_processor().architecture} is not read, only that of x86-64"
    return "" if shutil.which("objdump") else GET_OBJDUMP


def machine_code(kernel: CompiledKernel) -> MachineCode:
    """The functions of a kernel that was built here; BuildError where they cannot be read, and what to install."""
    if reason := why_unreadable():
        raise BuildError(reason)
    return _read(
        kernel.library, (*kernel.toolchain.command, *_flags(kernel)), _libraries(kernel), str(kernel.toolchain)
    )


def functions_in(library: Path) -> tuple[Function, ...]:
    """The functions of the generator's text in a library, without lines; BuildError where they cannot be read."""
    if reason := why_unreadable():
        raise BuildError(reason)
    return functions_of(_disassembled(library))


def _flags(kernel: CompiledKernel) -> tuple[str, ...]:
    return kernel.toolchain.flags(kernel.kernel.target, "debug" in kernel.notes)


def _libraries(kernel: CompiledKernel) -> tuple[str, ...]:
    return (*kernel.kernel.libraries, *kernel.toolchain.libraries)


@lru_cache(maxsize=64)
def _read(library: Path, command: tuple[str, ...], libraries: tuple[str, ...], made_by: str) -> MachineCode:
    plain = functions_of(_disassembled(library))
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        again = Path(folder) / "kernel.so"
        _run((*command, "-g1", "-o", str(again), str(library.with_name(SOURCE)), *libraries), folder)
        lined = functions_of(_disassembled(again, "--line-numbers"))
    same = [_words(f) for f in plain] == [_words(f) for f in lined]
    return MachineCode(made_by, lined if same else plain, same)


def _words(function: Function) -> tuple[str, tuple[str, ...]]:
    return function.name, tuple(map(str, function.instructions))


def _disassembled(library: Path, *options: str) -> str:
    return _run(("objdump", "-d", "--no-show-raw-insn", "-M", "intel", *options, str(library)), None)


def _run(command: tuple[str, ...], folder: str | None) -> str:
    """What a program prints; BuildError if it fails."""
    environment = {**os.environ, **compiler_variables(), "LC_ALL": "C"}
    kept = {"capture_output": True, "text": True, "errors": "replace", "timeout": SECONDS}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, check=False, **kept)  # type: ignore[call-overload]
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{command[0]} could not be run: {error}") from error
    if done.returncode:
        raise BuildError(f"{command[0]} failed: {done.stderr.strip()[:400]}")
    return done.stdout


def functions_of(listing: str) -> tuple[Function, ...]:
    """The functions of objdump's listing that hold the kernel's code: not the border's, not the linker's."""
    found: dict[str, list[Instruction]] = {}
    name, line, own = "", 0, False
    for text in listing.splitlines():
        if text.startswith(" "):  # nearly all lines: what else begins so is nothing
            if own and (one := _INSTRUCTION.match(text)):
                found.setdefault(name, []).append(_instruction(one, name, line))
        elif head := _FUNCTION.match(text):
            name, line = head[1], 0
            own = own_function(name)
        elif place := _PLACE.match(text):
            line = int(place[1])
    return tuple(Function(n, tuple(body)) for n, body in found.items())


def own_function(name: str) -> bool:
    """Whether the generator wrote a function, by its name."""
    return bool(name) and name not in LINKERS and "@plt" not in name and not name.startswith(OURS)


def _instruction(found: re.Match[str], function: str, line: int) -> Instruction:
    operands = (found[3] or "").partition("#")[0].strip()
    jump = _JUMP.match(operands) if found[2].startswith("j") else None
    target = int(jump[1], 16) if jump and jump[2] == function else None
    return Instruction(int(found[1], 16), found[2], operands, line, target)
