"""What compilers make of a kernel, line by line: assembly of the C text, PTX and SASS of the CUDA text."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from workbench.codegen.kernel import Kernel
from workbench.errors import BuildError
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.runtime.compilers.gpu_compiling import architecture_of, gpu_binary
from workbench.runtime.compilers.nvrtc import nvrtc
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.runtime.host.processes import CannotStart, run_limited
from workbench.viz.messages.drawn import Code, Line

SECONDS = 20
MOST_LINES = 3000

_PLACE = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"')
_LABEL = re.compile(r"^([\w.$%]+):")
_COMMENT = re.compile(r"\s*(?:#|//)")
_JUMP = re.compile(r"\b(?:j\w+|b\w{0,2}|cb\w*|tb\w*|bra(?:\.uni)?)\s+.*?(\.?[\w$]+)\s*;?\s*$")

_SASS_PLACE = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
_SASS_KERNEL = re.compile(r"^\.text\.(\w+):")
_SASS_CODE = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?;)")
DISASSEMBLER = "install the CUDA toolkit (conda install -c nvidia cuda-nvdisasm) and put nvdisasm on the PATH"

Row = tuple[str, int]


def c_assembly(kernel: Kernel, more: tuple[str, ...] = ()) -> tuple[str, tuple[Row, ...]]:
    """(what made it, rows): each row a line of assembly and the line of C it is of (0: none); BuildError.

    `more` are flags after those that kernels are built with.
    """
    return _assembled(kernel.source, kernel, preferred_toolchain(), more)


@lru_cache(maxsize=16)
def _assembled(source: str, kernel: Kernel, tools: Toolchain, more: tuple[str, ...]) -> tuple[str, tuple[Row, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernel.c").write_text(source, encoding="utf-8")
        flags = [f for f in tools.flags(kernel.target) if f not in ("-shared", "-fPIC")]
        flags += [*more, "-fPIC", "-S", "-g1", "-fno-asynchronous-unwind-tables"]
        command = (*tools.command, *flags, "-o", "kernel.s")
        try:
            done = run_limited((*command, "kernel.c"), SECONDS, Path(folder))
        except CannotStart as error:
            raise BuildError(f"{tools.name} cannot be started: {error}") from error
        written = Path(folder, "kernel.s")
        if done.code or not written.exists():
            raise BuildError(f"{tools.name} wrote no assembly ({done}): {done.output[:400]}")
        text = written.read_text(encoding="utf-8", errors="replace")
    level = next((f for f in flags if f.startswith("-O")), "")
    return " ".join(filter(None, (tools.name, level, *more))), rows_of(text, "kernel.c")


def cuda_ptx(kernel: Kernel) -> tuple[str, tuple[Row, ...]]:
    """(what made it, rows) of a kernel for a GPU, as NVRTC writes it; BuildError where it is not installed."""
    library = nvrtc()
    if library is None:
        raise BuildError("PTX is written by NVRTC, which is not found: pip install nvidia-cuda-nvrtc")
    number = re.sub(r"\D", "", architecture_of(kernel))
    options = (f"--gpu-architecture=compute_{number}", "--std=c++17", "-lineinfo")
    result = library.compiled(kernel.source, "kernel.cu", options, ptx=True)
    if result.binary is None:
        raise BuildError(f"{library.version} does not compile the text: {result.log[:400]}")
    text = result.binary.rstrip(b"\0").decode(errors="replace")
    return f"{library.version}, compute_{number}", rows_of(text, "kernel.cu")


def cuda_sass(kernel: Kernel) -> tuple[str, tuple[Row, ...]]:
    """(what made it, rows) of the machine code of a kernel for a GPU; BuildError says what to install."""
    tool = _disassembler()
    if tool is None:
        raise BuildError(f"SASS is written by nvdisasm, which is not found: {DISASSEMBLER}")
    binary = gpu_binary(kernel)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernel.cubin").write_bytes(binary.cubin)
        try:
            done = run_limited((tool, "--print-code", "--print-line-info", "kernel.cubin"), SECONDS, Path(folder))
        except CannotStart as error:
            raise BuildError(f"{tool} cannot be started: {error}") from error
    if done.code:
        raise BuildError(f"nvdisasm does not read the machine code ({done}): {done.output[:400]}")
    return f"{binary.compiler}, {binary.architecture}", sass_rows(done.output)


def _disassembler() -> str | None:
    """Where nvdisasm is: on the PATH, or beside the nvcc that is there."""
    if found := shutil.which("nvdisasm"):
        return found
    toolkits = [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH")]
    beside = [str(Path(folder, "bin")) for folder in (*toolkits, "/usr/local/cuda") if folder]
    return shutil.which("nvdisasm", path=os.pathsep.join(beside))


def sass_rows(text: str) -> tuple[Row, ...]:
    """Instructions, labels that something jumps to and names of kernels, each with the line of the source it is of."""
    rows: list[Row] = []
    place = 0
    wanted = set(re.findall(r"`\((\.L_x_\d+)\)", text))
    for line in text.splitlines():
        if at := _SASS_PLACE.match(line):
            place = int(at[2]) if at[1].endswith("kernel.cu") else 0
        elif name := _SASS_KERNEL.match(line):
            rows.append((f"{name[1]}:", 0))
            place = 0
        elif (label := _LABEL.match(line)) and label[1] in wanted:
            rows.append((line.rstrip(), 0))
        elif code := _SASS_CODE.match(line):
            rows.append((f"    {code[1].rstrip()}", place))
    return tuple(rows[:MOST_LINES])


def rows_of(text: str, source: str) -> tuple[Row, ...]:
    """Instructions and the labels that something jumps to, each with the line of the source it is of."""
    files = {found[1]: found[2] for found in map(_FILE.match, text.splitlines()) if found}
    targets = {found[1].lstrip(".") for line in text.splitlines() if (found := _JUMP.search(line))}
    rows: list[Row] = []
    place = 0
    for line in text.splitlines():
        if at := _PLACE.match(line):
            place = int(at[2]) if files.get(at[1], source).endswith(source) else 0
        elif label := _LABEL.match(line):
            if label[1].lstrip(".") in targets or not label[1].startswith((".", "$")):
                rows.append((line.rstrip(), 0))
        elif line.strip(" \t(){};,") and not line.lstrip().startswith(".") and not _COMMENT.match(line):
            rows.append((line.expandtabs(8).rstrip(), place))
    return tuple(rows[:MOST_LINES])


def listing_of(rows: tuple[Row, ...], of: list[Line], language: str, made_by: str) -> Code:
    """Lines for the front end: each belongs to what its line of source belongs to."""
    lines: list[Line] = []
    for number, (text, place) in enumerate(rows, 1):
        about = of[place - 1] if 0 < place <= len(of) else {"statements": [], "loop": ""}
        role = "loop" if not text.startswith(" ") else ""
        lines.append({
            "number": number, "runs": [(text, role, False)], "statements": about["statements"], "loop": about["loop"],
            "of": place,
        })  # fmt: skip
    return {"lines": lines, "start": 0, "notes": [made_by], "language": language, "reason": ""}
