"""From an address of code to a line: the line-number program of DWARF 4, section 6.2 of its standard.

By hand, as pyelftools says the same of a watched library in ten to thirty times as long (30 to 107 ms for 3 ms).
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.records import record

Row = tuple[int, int, int]  # address, file, line


@dataclass
class Reader:
    """A position in a string of bytes."""

    content: bytes
    at: int = 0

    def number(self, form: str) -> int:
        """A number of fixed size, by its letter in `struct`."""
        value = struct.unpack_from("<" + form, self.content, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def leb(self, *, signed: bool = False) -> int:
        """A number in pieces of seven bits."""
        value = shift = 0
        while True:
            byte = self.number("B")
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value - (1 << shift) if signed and byte & 64 else value

    def text(self) -> str:
        """Characters up to a zero."""
        end = self.content.index(0, self.at)
        found = self.content[self.at : end].decode(errors="replace")
        self.at = end + 1
        return found


@record
class LineTable:
    """Lines of one source file by address."""

    addresses: tuple[int, ...]
    lines: tuple[int, ...]

    def line(self, address: int) -> int:
        """The line whose code holds the address; 0 if the code is another file's."""
        place = bisect_right(self.addresses, address)
        return self.lines[place - 1] if place else 0


def line_table(debug_line: bytes, file: str) -> LineTable:
    """The lines of `file` in a `.debug_line` section of version 2 to 4; other files' code has line 0."""
    rows: dict[int, int] = {}
    reader = Reader(debug_line)
    while reader.at < len(debug_line):
        files, program = _unit(reader)
        own = {n for n, name in files.items() if name.rpartition("/")[2] == file}
        for address, number, line in program:
            rows[address] = line if number in own else 0
    ordered = sorted(rows.items())
    return LineTable(tuple(a for a, _ in ordered), tuple(line for _, line in ordered))


def _unit(reader: Reader) -> tuple[dict[int, str], list[Row]]:
    """The files and rows of one compilation unit."""
    length = reader.number("I")
    end = reader.at + length
    version = reader.number("H")
    if not 2 <= version <= 4:
        raise ValueError(f"line numbers of DWARF {version}; expected 2 to 4")
    header = reader.number("I")
    program = reader.at + header
    least = reader.number("B")
    reader.at += 1 if version < 4 else 2  # operations in an instruction (1 here), and whether rows are statements
    base, span, first = reader.number("b"), reader.number("B"), reader.number("B")
    lengths = [reader.number("B") for _ in range(first - 1)]
    files = _files(reader)
    reader.at = program
    rows = list(_rows(reader, end, least, base, span, lengths, files))
    reader.at = end
    return files, rows


def _files(reader: Reader) -> dict[int, str]:
    while reader.text():
        continue  # directories
    files: dict[int, str] = {}
    while name := reader.text():
        files[len(files) + 1] = name
        for _ in range(3):  # directory, time, length
            reader.leb()
    return files


def _rows(
    reader: Reader, end: int, least: int, base: int, span: int, lengths: list[int], files: dict[int, str]
) -> Iterator[Row]:
    """Run the program: a row each time it says so.  The end of a sequence is a row of file 0."""
    address, file, line = 0, 1, 1
    while reader.at < end:
        code = reader.number("B")
        if code > len(lengths):  # a special one: both go on, and there is a row
            code -= len(lengths) + 1
            address += code // span * least
            line += base + code % span
            yield address, file, line
            continue
        match code:
            case 0:
                size = reader.leb()
                then = reader.at + size
                extended = reader.number("B")
                if extended == 1:
                    yield address, 0, 0
                    address, file, line = 0, 1, 1
                elif extended == 2:
                    address = reader.number("Q")
                elif extended == 3:
                    files[len(files) + 1] = reader.text()
                reader.at = then
            case 1:
                yield address, file, line
            case 2:
                address += reader.leb() * least
            case 3:
                line += reader.leb(signed=True)
            case 4:
                file = reader.leb()
            case 8:
                address += (255 - len(lengths) - 1) // span * least
            case 9:
                address += reader.number("H")
            case _:
                for _ in range(lengths[code - 1]):
                    reader.leb()
