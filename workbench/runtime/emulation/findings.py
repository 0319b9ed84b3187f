"""What the sanitizer finds in a kernel, as data and in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Literal

from workbench.codegen.cuda.grid.launches import Launch
from workbench.records import record
from workbench.runtime.emulation.records import MOST_FINDINGS, RawFinding, RawLaunch
from workbench.wording import number_of

Kind = Literal[
    "race",
    "out of bounds",
    "uninitialised",
    "divergent barrier",
    "unfinished copy",
    "wrong element",
    "repeated",
    "wrong result",
    "illegal schedule",
]
KINDS: dict[int, Kind] = {
    1: "divergent barrier",
    2: "out of bounds",
    3: "uninitialised",
    4: "race",
    5: "unfinished copy",
}
VERBS = ("reads", "writes", "updates", "copies into", "reads")
JOINED: dict[Kind, str] = {"race": " on ", "unfinished copy": " into ", "wrong result": " in "}
# The region of a subscript that the compiler checks; less the line where it is declared, that of a thread's array.
DECLARED = -2
# Arrays lie farther apart (watcher.py).
NEAR = 32 << 20


@record(slots=True)
class Watched:
    """An array that a launch may touch: its name ("" if it has none), its first byte, bytes of an element."""

    name: str
    low: int
    grain: int


@record(slots=True)
class ThreadId:
    """A thread: (x, y, z) of its block in the grid, and of itself in the block."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]

    def __str__(self) -> str:
        return f"thread {self.thread} of block {self.block}"


@record(slots=True)
class Finding:
    """One thing wrong with a kernel.

    `line` counts from 1 in the kernel's text and `text` is that line; `other_line` and `other_text` are those of the
    access, or barrier, it conflicts with, or the line in a function that `line` calls.  `threads` are the pair: the
    one that was noticed and the earlier one (None where one thread is enough).  `array` and `index` name the element,
    where that is known.  `method` says who found it: "executor (forward)", or "happens-before", which is a proof.
    """

    kind: Kind
    kernel: str
    line: int
    text: str
    threads: tuple[ThreadId | None, ThreadId | None]
    other_line: int
    other_text: str
    array: str
    index: int | None
    method: str
    what: str

    def __str__(self) -> str:
        element = f"[{self.index}]" if self.index is not None else ""
        place = f"{JOINED.get(self.kind, ': ')}{self.array}{element}" if self.array else ""
        places = {self.line: self.text, self.other_line: self.other_text}
        lines = [f"  line {line}: {text}" for line, text in places.items() if line]
        head = f"{self.kind}{place}, in {self.kernel}"
        return "\n".join([head, *lines, f"  {self.what}", f"  found by {self.method}"])


@record(slots=True)
class Findings:
    """All that `wb.sanitize` found, and what it can say of what it did not find.

    True if nothing was found; iterates over the findings.  `proved` and `tried` are sentences: what holds for all
    threads and sizes, and which executions of which arrays were watched.
    """

    found: tuple[Finding, ...]
    proved: str
    tried: str

    def __bool__(self) -> bool:
        return not self.found

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, place: int) -> Finding:
        return self.found[place]

    def __str__(self) -> str:
        head = "nothing found" if not self.found else number_of(len(self.found), "finding")
        lines = [str(finding) for finding in self.found]
        return "\n".join([head, *lines, f"proved: {self.proved}", f"tried: {self.tried}"])

    def __repr__(self) -> str:
        return str(self)


def read_findings(
    raw: RawLaunch,
    launch: Launch,
    source: str,
    line_of: Callable[[int], int],
    method: str,
    regions: tuple[Watched, ...] = (),
) -> tuple[Finding, ...]:
    """The findings of one launch; `regions` are what it was told to touch, in its order."""
    count = min(raw.found, MOST_FINDINGS)
    return tuple(_read(raw, raw.findings[n], launch, source, line_of, method, regions) for n in range(count))


def _read(
    raw: RawLaunch,
    found: RawFinding,
    launch: Launch,
    source: str,
    line_of: Callable[[int], int],
    method: str,
    regions: tuple[Watched, ...],
) -> Finding:
    kind = KINDS[found.kind]
    line, other = line_of(found.site_a), line_of(found.site_b) if found.site_b else 0
    first = _thread(raw, found.block_a, found.thread_a)
    second = _thread(raw, found.block_b, found.thread_b) if found.thread_b >= 0 else None
    text, other_text = _line(source, line), _line(source, other)
    array, index = _element(found, regions, text, source)
    what = _words(kind, found, first, second, other)
    return Finding(kind, launch.name, line, text, (first, second), other, other_text, array, index, method, what)


def _element(found: RawFinding, regions: tuple[Watched, ...], text: str, source: str) -> tuple[str, int | None]:
    """(array, index of the element); where none is touched, the nearest array and the index it would have there."""
    if 0 <= found.region < len(regions):
        own = regions[found.region]
        return own.name, found.offset // own.grain
    if found.region <= DECLARED:
        index = found.offset - (1 << 32) if 1 << 31 <= found.offset < 1 << 32 else found.offset
        line = DECLARED - found.region
        return _declared(_line(source, line) if line else text), index
    near = [own for own in regions if own.name and abs(found.offset - own.low) < NEAR]
    if KINDS[found.kind] != "out of bounds" or not near:
        return "", None
    own = min(near, key=lambda r: abs(found.offset - r.low))
    return own.name, (found.offset - own.low) // own.grain


def array_name(number: int, names: tuple[str, ...], source: str) -> str:
    """The name of a region; below those, of an array of a thread by the line that declares it; "" if it has none."""
    return names[number] if number >= 0 else _declared(_line(source, DECLARED - number))


def _thread(raw: RawLaunch, block: int, thread: int) -> ThreadId:
    return ThreadId(_three(block, tuple(raw.grid)), _three(thread, tuple(raw.block)))


def _three(number: int, extents: tuple[int, ...]) -> tuple[int, int, int]:
    return number % extents[0], number // extents[0] % extents[1], number // extents[0] // extents[1]


@lru_cache(8)
def _lines(source: str) -> list[str]:
    return source.split("\n")


def _line(source: str, number: int) -> str:
    lines = _lines(source)
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _declared(text: str) -> str:
    """The array of a declaration, or of a subscript outside of its declared extent, if the line has only one."""
    names = set(re.findall(r"\b([A-Za-z_]\w*)\s*\[", text))
    return names.pop() if len(names) == 1 else ""


def _words(kind: Kind, found: RawFinding, first: ThreadId, second: ThreadId | None, other: int) -> str:
    verb, line = VERBS[found.what_a], f" in line {other}" if other else ""
    if kind == "uninitialised":
        near = f"; the nearest element that has a value was written{line}" if other else ""
        return f"{first} {verb} what nobody has written{near}"
    called = f", in line {other} of what it calls" if other else ""
    if found.region <= DECLARED:
        return f"{first} takes an element outside of the declared extent{called}"
    if second is None:
        return f"{first} {verb} {found.bytes} bytes that belong to no array{called}"
    one, another, where = _pair(first, second)
    if kind == "divergent barrier":
        return f"{one} waits, {another} {f'waits{line}' if other else 'has ended'}{where}"
    if kind == "unfinished copy":
        return f"{one} {verb} it while the copy that {another} began{line} may be under way{where}"
    return f"{one} {verb} it, {another} {VERBS[found.what_b]} it{line}{where}, and nothing orders the two"


def _pair(first: ThreadId, second: ThreadId) -> tuple[str, str, str]:
    """Two threads in words; a block that they share is said once."""
    if first.block == second.block:
        return f"thread {first.thread}", f"thread {second.thread}", f", both in block {first.block}"
    return str(first), str(second), ""
