"""NVRTC: NVIDIA's compiler as a library, from its wheel or wherever the machine has it.  No GPU is needed."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from workbench.errors import BuildError
from workbench.records import record


@record
class NvrtcResult:
    """What one compilation gave: the binary (None if it failed) and what the compiler said."""

    binary: bytes | None
    log: str


@record(eq=False)
class Nvrtc:
    """The library: `compiled(source, options)`."""

    library: ctypes.CDLL
    path: str

    @property
    def version(self) -> str:
        """`NVRTC 13.0`."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        return f"NVRTC {major.value}.{minor.value}"

    @property
    def architectures(self) -> tuple[int, ...]:
        """What it compiles for: 80 stands for sm_80."""
        count = ctypes.c_int()
        self._call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        found = (ctypes.c_int * count.value)()
        self._call("nvrtcGetSupportedArchs", found)
        return tuple(found)

    def compiled(self, source: str, name: str, options: tuple[str, ...], *, ptx: bool = False) -> NvrtcResult:
        """The machine code (or PTX) of a source; options as nvcc has them."""
        program = ctypes.c_void_p()
        text = source.encode()
        self._call("nvrtcCreateProgram", ctypes.byref(program), text, name.encode(), 0, None, None)
        try:
            given = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
            failed = self.library.nvrtcCompileProgram(program, len(options), given)
            log = self._text(program, "nvrtcGetProgramLog").rstrip(b"\0").decode(errors="replace").strip()
            return NvrtcResult(None if failed else self._text(program, "nvrtcGetPTX" if ptx else "nvrtcGetCUBIN"), log)
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))

    def _text(self, program: ctypes.c_void_p, function: str) -> bytes:
        size = ctypes.c_size_t()
        self._call(f"{function}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._call(function, program, buffer)
        return buffer.raw

    def _call(self, function: str, *arguments: object) -> None:
        code = getattr(self.library, function)(*arguments)
        if code:
            raise BuildError(f"{function} of {self.path} failed with code {code}")


@cache
def nvrtc() -> Nvrtc | None:
    """The library of this machine, None where there is none."""
    for path in _candidates():
        try:
            return Nvrtc(ctypes.CDLL(path), path)
        except OSError:
            continue
    return None


def _candidates() -> Iterator[str]:
    """Files that may be the library: the wheel's, the newest first, then what the system knows."""
    spec = find_spec("nvidia")
    folders = [Path(p) for p in (spec.submodule_search_locations or [])] if spec is not None else []
    patterns = ("*/bin/**/nvrtc64_*.dll",) if sys.platform == "win32" else ("*/lib/libnvrtc.so.*",)
    for folder in folders:
        found = [path for pattern in patterns for path in folder.glob(pattern) if ".alt." not in path.name]
        yield from map(str, sorted(found, key=lambda p: p.name, reverse=True))
    yield from map(str, sorted(Path(sys.prefix, "lib").glob("libnvrtc.so.*"), reverse=True))
    system = ctypes.util.find_library("nvrtc")
    if system:
        yield system
    yield from map(str, sorted(Path("/usr/local").glob("cuda*/lib64/libnvrtc.so"), reverse=True))
