"""Sections and symbols of a shared library in the ELF format, for 64-bit little-endian machines."""

from __future__ import annotations

import struct

from workbench.records import record

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
