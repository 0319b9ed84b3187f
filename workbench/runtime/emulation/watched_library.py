"""A library built with a look at every access, and what its file says of lines and of shared arrays."""

from __future__ import annotations

import ctypes
import re
import struct
from functools import cached_property
from pathlib import Path

from workbench.errors import BuildError
from workbench.records import record
from workbench.runtime.emulation.line_table import LineTable, line_table

SHARED_SECTION = "wb_shared"
CONSTANT_SECTIONS = (".rodata", ".data.rel.ro")
# A site below is a line; code never lies so low.
LINES = 1 << 24


@record
class WatchedLibrary:
    """The loaded library and its file.  BuildError, when it is first asked, if that is not in the ELF format."""

    handle: ctypes.CDLL
    file: Path

    @cached_property
    def base(self) -> int:
        """What the loader added to the addresses of the file."""
        run = next(s for s in self._symbols if s.name == "wb_cpu_run")
        return (ctypes.cast(self.handle.wb_cpu_run, ctypes.c_void_p).value or 0) - run.address

    @property
    def cell_bytes(self) -> int:
        """Bytes of the history of one element."""
        return ctypes.c_int64.in_dll(self.handle, "wb_cpu_cell_bytes").value

    @cached_property
    def _sections(self) -> list[Section]:
        try:
            return sections_of(self.file.read_bytes())
        except ValueError as error:
            raise BuildError(f"the sanitizer needs a library as Linux has it: {error}") from error

    @cached_property
    def _symbols(self) -> list[Symbol]:
        return symbols_of(self._sections)

    @cached_property
    def _lines(self) -> LineTable:
        content = next((s.content for s in self._sections if s.name == ".debug_line"), b"")
        return line_table(content, "kernel.cu")

    def line(self, site: int) -> int:
        """The line of the CUDA text for a site, which is one already or an address of code; 0 if it is elsewhere."""
        return site if site < LINES else self._lines.line(site - self.base)

    def shared(self, kernel: str) -> list[tuple[str, int, int]]:
        """(name, address, bytes) of the shared arrays that a kernel declares."""
        ours = [s for s in self._symbols if s.kind == OBJECT and s.section == SHARED_SECTION]
        return [(name, self.base + s.address, s.length) for s in ours if (name := local_name(s.name, kernel))]

    @property
    def constants(self) -> list[tuple[int, int]]:
        """(low, high) of what the library holds and never changes."""
        found = [s for s in self._sections if s.name in CONSTANT_SECTIONS]
        return [(self.base + s.address, self.base + s.address + s.length) for s in found]


def local_name(symbol: str, function: str) -> str:
    """The name of a static variable of a function, from its mangled name; "" if it is another's.

    >>> local_name("_ZZ8matmul_CE7A_local", "matmul_C"), local_name("_ZZ1fE1x", "g")
    ('A_local', '')
    """
    found = re.fullmatch(rf"_ZZ{len(function)}{re.escape(function)}E(\d+)(\w+)", symbol)
    return found[2][: int(found[1])] if found else ""


# -- Sections and symbols of a shared library in the ELF format, for 64-bit little-endian machines --

OBJECT = 1


@record(slots=True)
class Section:
    """A section: its content (empty if the file has none), its address when loaded, its length in bytes."""

    name: str
    address: int
    length: int
    content: bytes


@record(slots=True)
class Symbol:
    """A variable or function: address and length in bytes, and the section it stands in."""

    name: str
    address: int
    length: int
    kind: int
    section: str


def sections_of(file: bytes) -> list[Section]:
    """Every section, in order.  ValueError if this is no 64-bit little-endian ELF file."""
    if file[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    start = struct.unpack_from("<Q", file, 40)[0]
    size, count, names_at = struct.unpack_from("<HHH", file, 58)
    heads = [struct.unpack_from("<IIQQQQIIQQ", file, start + n * size) for n in range(count)]
    names = file[heads[names_at][4] : heads[names_at][4] + heads[names_at][5]]
    without = 8  # SHT_NOBITS: zeros that the file does not hold
    return [
        Section(_text(names, h[0]), h[3], h[5], b"" if h[1] == without else file[h[4] : h[4] + h[5]]) for h in heads
    ]


def symbols_of(sections: list[Section]) -> list[Symbol]:
    """Every symbol that stands in a section."""
    by_name = {s.name: s for s in sections}
    if ".symtab" not in by_name:
        return []
    table, names = by_name[".symtab"].content, by_name[".strtab"].content
    found: list[Symbol] = []
    for name, info, _, place, address, length in struct.iter_unpack("<IBBHQQ", table):
        if 0 < place < len(sections):
            found.append(Symbol(_text(names, name), address, length, info & 15, sections[place].name))
    return found


def _text(strings: bytes, start: int) -> str:
    return strings[start : strings.index(0, start)].decode(errors="replace")
