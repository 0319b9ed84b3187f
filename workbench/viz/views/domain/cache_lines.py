"""A small cache, line by line: which touches find their cell there; how small it is beside what is drawn."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from math import prod

from workbench.errors import WorkbenchError, shown
from workbench.lang.algebra.folding import fold
from workbench.lang.algebra.normal_form import constant
from workbench.poly.programs.program import Array, Program
from workbench.records import record
from workbench.target import Target
from workbench.viz.draw.quantities import bytes_text
from workbench.viz.frames.coordinates import typical_sizes

Line = int

FEWEST = 4  # lines of a cache in which something comes and goes
SHORTEST = 2  # elements of a line: neighbours come together


@record
class Cache:
    """Fully associative, least recently used: `size` bytes in lines of `line` bytes; `words` say why so many."""

    size: int = 256
    line: int = 16
    words: str = ""

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
class Scale:
    """What is drawn against what is meant: `data` bytes of all tensors, `row` elements of the longest last dimension.

    Both are at most 1.
    """

    data: float
    row: float


def scale(own: Program, drawn: Program, sizes: Mapping[str, int]) -> Scale:
    """How much smaller the tensors are in a drawing with these sizes; open ones are meant to be typical."""
    meant = _tensors(own.original, {**typical_sizes(own), **own.sizes})
    shown = _tensors(drawn.original, {**drawn.sizes, **sizes})
    return Scale(*(min(1.0, part / whole) if whole else 1.0 for part, whole in zip(shown, meant, strict=True)))


def _tensors(program: Program, sizes: dict[str, int]) -> tuple[int, int]:
    """(bytes of all tensors, elements of the longest last dimension)."""
    extents = {name: [int(fold(e, sizes)) for e in a.extent] for name, a in program.arrays.items()}
    held = sum(prod(extents[name]) * a.dtype.bytes for name, a in program.arrays.items())
    return held, max((own[-1] for own in extents.values() if own), default=1)


def scaled_cache(machine: Target, smaller: Scale, element_bytes: int) -> Cache:
    """The machine's first cache, as small beside the tensors as it is beside those that are meant, its lines as short
    beside a row; a few lines of some elements at least.
    """
    level, whole = machine.cache_bytes[0], machine.line_bytes
    what = f"The cache is the first one of the machine ({bytes_text(level)}, lines of {whole} B)"
    if smaller.data == 1.0:
        return Cache(max(FEWEST, level // whole) * whole, whole, f"{what}.")
    most = max(1, whole // element_bytes)
    line = element_bytes * min(most, max(SHORTEST, round(whole * smaller.row / element_bytes)))
    lines = round(level * smaller.data / line)
    least = "" if lines >= FEWEST else "; that would be less than the few lines that are drawn"
    words = f"{what}, scaled with what is drawn: {bytes_text(level * smaller.data)}{least}."
    return Cache(max(FEWEST, lines) * line, line, words)


@record
class Layout:
    """Where each array begins in memory, at a line's beginning; arrays follow one another."""

    arrays: Mapping[str, Array]
    starts: Mapping[str, int]
    line: int

    def line_of(self, array: str, element: int) -> Line:
        """The line that holds an element."""
        return (self.starts[array] + element * self.arrays[array].dtype.bytes) // self.line


def memory_layout(arrays: Mapping[str, Array], cache: Cache) -> Layout:
    """The arrays one after another."""
    starts, at = {}, 0
    for name, array in arrays.items():
        starts[name] = at
        at += -(-max(1, elements_between(array)) * array.dtype.bytes // cache.line) * cache.line
    return Layout(arrays, starts, cache.line)


def elements_between(array: Array) -> int:
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
