"""A small cache, line by line: which touches find their cell there."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from workbench.errors import WorkbenchError, shown
from workbench.lang.algebra.normal_form import constant
from workbench.poly.programs.program import Array
from workbench.records import record

Line = int


@record
class Cache:
    """Fully associative, least recently used: `size` bytes in lines of `line` bytes."""

    size: int = 256
    line: int = 16

    def __post_init__(self) -> None:
        """WorkbenchError for a cache that cannot be."""
        for name, value in (("cache_bytes", self.size), ("line_bytes", self.line)):
            if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= 1 << 30:
                raise WorkbenchError(f"replay: {name}={shown(value)} does not fit; expected a positive number of bytes")
        if self.size % self.line:
            raise WorkbenchError(f"replay: a cache of {self.size} bytes has no whole number of lines of {self.line}")

    @property
    def lines(self) -> int:
        return self.size // self.line


@record
class Layout:
    """Where each array begins in memory, at a line's beginning; arrays follow one another."""

    arrays: Mapping[str, Array]
    starts: Mapping[str, int]
    line: int

    def line_of(self, array: str, element: int) -> Line:
        """The line that holds an element."""
        return (self.starts[array] + element * self.arrays[array].dtype.bytes) // self.line


def layout_of(arrays: Mapping[str, Array], cache: Cache) -> Layout:
    """The arrays one after another."""
    starts, at = {}, 0
    for name, array in arrays.items():
        starts[name] = at
        at += -(-max(1, count(array)) * array.dtype.bytes // cache.line) * cache.line
    return Layout(arrays, starts, cache.line)


def count(array: Array) -> int:
    """Number of elements from the first to the last."""
    span = 1
    for extent, stride in zip(array.extent, array.strides, strict=True):
        n, step = constant(extent), constant(stride)
        assert n is not None
        assert step is not None
        if n <= 0:
            return 0
        span += (n - 1) * step
    return span


class Simulation:
    """The state of a cache as touches go by."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        self.held: OrderedDict[Line, None] = OrderedDict()

    def touch(self, line: Line) -> bool:
        """Whether the line was there; it is now."""
        found = line in self.held
        self.held[line] = None
        self.held.move_to_end(line)
        if len(self.held) > self.cache.lines:
            self.held.popitem(last=False)
        return found

    def touch_all(self, lines: Iterable[Line]) -> list[bool]:
        """`touch` for each."""
        return [self.touch(line) for line in lines]
