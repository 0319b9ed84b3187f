"""`roofline`: operations a second against operations a byte, below the ceilings of a machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.errors import WorkbenchError
from workbench.poly.programs.program import Program
from workbench.runtime import Measurement, this_machine
from workbench.runtime.measuring import roofs
from workbench.target import Target
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.quantities import bytes_text, count_text
from workbench.viz.draw.scene import Scene, above, paragraph
from workbench.viz.draw.table_scene import table_scene
from workbench.viz.draw.tables import Table, table_text
from workbench.viz.frames.coordinates import Sizes, concrete, scheduled
from workbench.viz.views.performance.roofline_data import Entry, Roofline, roofline_data
from workbench.viz.views.performance.roofline_drawing import chart, key


def roofline(
    value: Any,
    ceilings: roofs.Ceilings | None = None,
    *,
    target: Target | None = None,
    sizes: Sizes | None = None,
    measured: Measurement | float | Mapping[str, Measurement | float] | None = None,
) -> Picture:
    """Where a schedule stands below the machine's ceilings: a point for each level of memory.

    `value` is a schedule, program or kernel, or a mapping from names to several.  Their traffic is counted as
    `footprint` does, for the caches of `target`.  `ceilings` are this machine's, measured once, when none are given.
    `measured` (a Measurement or seconds; with several values a mapping) adds the speed that was seen.

    Raises LoweringError while sizes are open, WorkbenchError for what does no arithmetic.
    """
    given = value if isinstance(value, Mapping) else {_name(value): value}
    if not given:
        raise WorkbenchError("roofline: nothing was given; expected a schedule, or a mapping from names to schedules")
    seen = measured if isinstance(measured, Mapping) else {} if measured is None else dict.fromkeys(given, measured)
    items = {name: concrete(scheduled(item), sizes) for name, item in given.items()}
    found = roofline_data(items, ceilings or _measured_here(items), target or this_machine(), seen)
    return Picture(roofline_text(found), roofline_scene(found), data=found)


def _name(value: Any) -> str:
    of = scheduled(value)
    program = of if isinstance(of, Program) else getattr(of, "program", None)
    return program.name if isinstance(program, Program) else "it"


def _measured_here(items: Mapping[str, Any]) -> roofs.Ceilings:
    types = {a.dtype.name for of in items.values() for a in of.program.arrays.values()}
    return roofs.ceilings("float64" if "float64" in types else "float32")


def roofline_text(found: Roofline) -> str:
    """The ceilings, then a table of the points."""
    names = ", ".join(e.name for e in found.entries)
    return "\n".join([f"roofline of {names}", f"  {found.ceilings}", *table_text(point_table(found), "  ")])


def point_table(found: Roofline) -> Table:
    """A row for each point, the level that allows least marked."""
    several = len(found.entries) > 1
    rows = [row for entry in found.entries for row in _rows(entry, several)]
    head = (*(["schedule"] if several else []), "between", "bytes moved", "FLOP/B", "allows GFLOP/s", "measured")
    if not any(entry.measured for entry in found.entries):
        head, rows = head[:-1], [row[:-1] for row in rows]
    first = int(several) + 1
    return Table(tuple(rows), "", head, right=tuple(range(first, len(head))))


def _rows(entry: Entry, several: bool) -> list[tuple[str, ...]]:
    rows = []
    for i, p in enumerate(entry.points):
        least = p is entry.tightest
        bound = f"{p.bound / 1e9:.3g}{' ◂' if least else '  '}"
        seen = f"{entry.measured / 1e9:.3g}" if entry.measured and least else ""
        own = (f"{p.cache} and {p.behind}", bytes_text(p.moved_bytes), count_text(p.intensity), bound, seen)
        rows.append((*([entry.name if i == 0 else ""] if several else []), *own))
    return rows


NOTES = (
    "A point is what a level of memory allows: operations for each byte that must come from it, times its rate. The "
    "lowest (◂) decides. Bytes are counted exactly as in the footprint.",
)


def roofline_scene(found: Roofline) -> Scene:
    """The chart, the table of its points, where the numbers come from."""
    drawn = chart(found)
    where = f"Ceilings: {found.ceilings.origin}, {found.ceilings.dtype}."
    return above(drawn, key(found), table_scene(point_table(found)), paragraph((*NOTES, where), drawn.width), gap=12)
