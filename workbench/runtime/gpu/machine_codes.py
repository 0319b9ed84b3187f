"""Machine code on disk: a text that was compiled once for an architecture is not compiled again."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from workbench.runtime.compilers.entries import content_key
from workbench.runtime.compilers.gpu_compiling import FLAGS, GpuBinary, compiled_for, compiler_version
from workbench.runtime.compilers.storage import subdirectory, write_file

FOLDER = "machine-code"


def machine_code(source: str, architecture: str) -> GpuBinary:
    """The machine code of a text, from the disk or from the compiler (BuildError as `gpu_binary` raises it)."""
    version = compiler_version()
    file = subdirectory(FOLDER) / f"{content_key(source, architecture, version, FLAGS)}.cubin"
    found = _read(file, architecture)
    if found is not None:
        return found
    made = compiled_for(source, architecture)
    with suppress(OSError):
        head = json.dumps({"log": made.log, "compiler": made.compiler, "bytes": len(made.cubin)}).encode()
        write_file(file, head + b"\n" + made.cubin)
    return made


def _read(file: Path, architecture: str) -> GpuBinary | None:
    """What was written; None if it is not whole."""
    try:
        head, _, cubin = file.read_bytes().partition(b"\n")
        said = json.loads(head)
        if len(cubin) != said["bytes"]:
            return None
        return GpuBinary(architecture, cubin, said["log"], said["compiler"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
