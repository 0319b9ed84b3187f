"""A roofline as plain data: the machine's ceilings, and where schedules stand below them."""

from __future__ import annotations

from collections.abc import Mapping

from workbench import poly
from workbench.errors import WorkbenchError, shown
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.runtime import Measurement
from workbench.runtime.measuring.roofs import Ceilings
from workbench.target import Target
from workbench.viz.frames.coordinates import Subject
from workbench.viz.views.performance.footprint_data import LEVELS, Level, level

# The memory that answers what a cache does not hold.
BEHIND = {"L1": "L2", "L2": "L3", "L3": "memory"}


@record
class Point:
    """Traffic of one level: `moved_bytes` between `cache` and what is behind, at `intensity` operations a byte.

    `bound` is the most operations a second that the ceilings of that memory allow.
    """

    cache: str
    behind: str
    moved_bytes: int
    intensity: float
    bound: float


@record
class Entry:
    """One schedule: its points, and the measured operations a second, if it was measured."""

    name: str
    flops: int
    points: tuple[Point, ...]
    measured: float | None = None

    @property
    def tightest(self) -> Point:
        """The level that allows least."""
        return min(self.points, key=lambda p: (p.bound, p.intensity))


@record
class Roofline:
    """Ceilings and what stands below them."""

    ceilings: Ceilings
    entries: tuple[Entry, ...]


def roofline_data(
    items: Mapping[str, Subject], ceilings: Ceilings, target: Target, measured: Mapping[str, Measurement | float]
) -> Roofline:
    """Points from exact counts of traffic; WorkbenchError for a program that computes nothing."""
    entries = (_entry(name, of, ceilings, target, _rate(measured.get(name), of.program)) for name, of in items.items())
    return Roofline(ceilings, tuple(entries))


def _rate(measured: Measurement | float | None, program: Program) -> float | None:
    """Operations a second; of a measurement of something else than numbers, those of the program."""
    if isinstance(measured, Measurement):
        return poly.flops(program) / measured.seconds
    if measured is not None and (isinstance(measured, bool) or not isinstance(measured, int | float) or measured <= 0):
        raise WorkbenchError(f"measured={shown(measured)} does not fit; expected a Measurement or seconds")
    return None if measured is None else poly.flops(program) / measured


def _entry(name: str, of: Subject, ceilings: Ceilings, target: Target, measured: float | None) -> Entry:
    flops = poly.flops(of.program)
    if not flops:
        raise WorkbenchError(
            f"{name} does no arithmetic, so it has no place on a roofline; footprint shows its traffic"
        )
    found = [level(of.program, of.tree, n, b) for n, b in zip(LEVELS, target.cache_bytes, strict=True) if b]
    points = tuple(_point(one, ceilings) for one in found if BEHIND[one.name] in ceilings.bytes_per_second)
    if not points:
        known = ", ".join(ceilings.bytes_per_second) or "(none)"
        raise WorkbenchError(
            f"the ceilings have no rate of a memory behind a cache: known: {known}; expected L2, L3, memory"
        )
    return Entry(name, flops, points, measured)


def _point(found: Level, ceilings: Ceilings) -> Point:
    behind = BEHIND[found.name]
    bound = min(ceilings.flops_per_second, found.intensity * ceilings.bytes_per_second[behind])
    return Point(found.name, behind, found.moved_bytes, found.intensity, bound)
