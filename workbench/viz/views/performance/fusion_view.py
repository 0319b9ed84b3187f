"""`fusion`: producer and consumer beside each other, what a tile needs and computes again, bytes saved by a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.errors import WorkbenchError, shown
from workbench.runtime import this_machine
from workbench.schedules import Schedule
from workbench.target import Target
from workbench.viz.draw.axes import axes_for
from workbench.viz.draw.geometry import hull, is_convex
from workbench.viz.draw.palette import statement_numbers, statement_role
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.quantities import bytes_text
from workbench.viz.draw.scene import Line, Mark, Marker, Polygon, Scene, Text, above, beside, paragraph
from workbench.viz.draw.table_scene import table_scene
from workbench.viz.draw.tables import Table, table_text
from workbench.viz.frames.coordinates import Sizes, Subject, concrete
from workbench.viz.frames.frame import Asked
from workbench.viz.views.domain.execution import small_subject
from workbench.viz.views.performance.footprint_data import LEVELS, level
from workbench.viz.views.performance.fusion_data import (
    Computed,
    Fusion,
    computed,
    flow_of,
    instance_counts,
    savings,
    shared_iteration,
)
from workbench.wording import number_of

UNIT = 26.0
AGAIN = "ink"


def fusion(
    after: Schedule,
    before: Schedule | None = None,
    *,
    at: Mapping[str, int] | None = None,
    target: Target | None = None,
    sizes: Sizes | None = None,
    drawn: Sizes | None = None,
) -> Picture:
    """What a step between statements does: the producer's instances that one tile of the consumer needs, how often each
    is computed in all, and the bytes saved between every cache and what is behind it.

    `before` is the schedule without the last step, unless given.  `at` chooses the iteration of the loops around both
    statements; `drawn` the sizes of the drawing, `sizes` those of the counts.  Raises WorkbenchError when no statement
    feeds another, LoweringError while sizes are open.
    """
    for value in (after, before):
        if not isinstance(value, Schedule | None) or after is None:
            raise WorkbenchError(f"fusion takes Schedules, as wb.schedule(op) makes them, not {shown(value)}")
    if before is None:
        if not after.trace:
            raise WorkbenchError("fusion: the schedule has no step yet; give the schedule after a step")
        before = after.undo()
    found = _found(before, after, at, target or this_machine(), sizes, drawn)
    small = small_subject(after, Asked(sizes=drawn))
    return Picture(fusion_text(found), fusion_scene(found, small), data=found)


def _found(
    before: Schedule,
    after: Schedule,
    at: Mapping[str, int] | None,
    target: Target,
    sizes: Sizes | None,
    drawn: Sizes | None,
) -> Fusion:
    small = small_subject(after, Asked(sizes=drawn))
    flow = flow_of(small)
    tile = shared_iteration(small, flow, at)
    one, other = concrete(before, sizes), concrete(after, sizes)
    steps = " | ".join(str(step) for step in after.trace[len(before.trace) :]) or "the same steps"
    return Fusion(
        _title(other), steps, flow, tile,
        computed(small, flow.producer, flow, tile), computed(small, flow.consumer, flow, tile),
        instance_counts(one.program, other.program), savings(_levels(one, target), _levels(other, target)),
    )  # fmt: skip


def _title(of: Subject) -> str:
    sizes = ", ".join(f"{k}={v}" for k, v in of.program.sizes.items())
    return f"{of.program.name} for {sizes}" if sizes else of.program.name


def _levels(of: Subject, target: Target) -> tuple:
    caches = zip(LEVELS, target.cache_bytes, strict=True)
    return tuple(level(of.program, of.tree, name, size) for name, size in caches if size)


def fusion_scene(found: Fusion, small: Subject) -> Scene:
    """Producer, an arrow, consumer; then the counts."""
    roles = [_statement(own, small) for own in (found.producer, found.consumer)]
    one = _panel(found.producer, roles[0], small, "producer")
    other = _panel(found.consumer, roles[1], small, "consumer")
    words = Text(0, 100, found.flow.array, 12, "ink", mono=True)
    line = Line((0, 110), (max(36, words.width), 110), "ink", 1.6, head=True)
    arrow = Scene(max(36, words.width), 120, (line, words))
    head = Text(0, 13, f"{found.step}: {found.title}", 12.5, bold=True)
    top = Scene(head.width, 22, (head,), f"fusion by {found.step}")
    tables = beside([table_scene(instance_table(found)), table_scene(saving_table(found))], gap=44)
    pair = beside([one, arrow, other], gap=20)
    return above(top, pair, _key(*roles), tables, paragraph(_notes(found, small), 620), gap=10)


def _statement(own: Computed, small: Subject) -> str:
    """The colour that the statement has in every picture of the program."""
    own_name = {s.id: s.name for s in small.program.statements}.get(own.identifier, "")
    return statement_role(statement_numbers(small.program).get(own_name, 0))


def _panel(own: Computed, role: str, small: Subject, part: str) -> Scene:
    """Instances on the last two dims that tell most; numbers say how often one is computed, the tile's are filled."""
    names = own.name.partition("(")[2].rstrip(")").split(", ") if "()" not in own.name else []
    x, y = _axes(names, own)
    cells: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    for point in own.times:
        cells.setdefault((_on(names, point, x), _on(names, point, y)), []).append(point)
    axes = axes_for(x, y, cells)
    axes = replace(axes, unit=min(axes.unit, UNIT))
    inside = [c for c, points in cells.items() if any(p in own.needed for p in points)]
    marks: list[Mark] = [*axes.marks()]
    if len(inside) > 2 and is_convex(inside):
        marks.append(Polygon(tuple(axes.at(*c) for c in hull(inside)), role, 0.18, axes.unit * 0.42))
    for cell, points in cells.items():
        times = max(own.times[p] for p in points)
        needed = any(p in own.needed for p in points)
        at = axes.at(*cell)
        colour = role if needed else AGAIN if times > 1 else "grid"
        if times > 1:
            marks.append(Text(at[0], at[1] + 4, str(times), 11.5, colour, "middle", bold=True))
        else:
            marks.append(Marker(*at, colour, "square" if needed else "disc", 4.6))
    head = Text(0, 13, f"{part} {own.name}", 12, role, mono=True, bold=True)
    return above(Scene(head.width, 20, (head,)), Scene(axes.width, axes.height, tuple(marks)), gap=0)


def _axes(names: list[str], own: Computed) -> tuple[str, str]:
    """The two dims along which the tile's instances differ from the rest and from one another most."""
    spread = {n: len({_on(names, p, n) for p in own.times}) for n in names}
    varying = [n for n in names if spread[n] > 1] or names
    chosen = sorted(sorted(varying, key=lambda n: -spread[n])[:2], key=names.index)
    return (chosen[-1] if chosen else ""), (chosen[0] if len(chosen) > 1 else "")


def _on(names: list[str], point: tuple[int, ...], axis: str) -> int:
    return point[names.index(axis)] if axis in names else 0


def _key(producer: str, consumer: str) -> Scene:
    marks: list[Mark] = [Marker(5, 9, producer, "square", 4.6)]
    first = Text(15, 13, "needed by the tile", 12, "soft")
    second = Text(15 + first.width + 22, 13, "the tile", 12, "soft")
    marks += [first, Marker(second.x - 10, 9, consumer, "square", 4.6), second]
    third = Text(second.x + second.width + 30, 13, "computed so many times in all", 12, "soft")
    return Scene(third.x + third.width, 20, (*marks, Text(third.x - 14, 13, "2", 12, AGAIN, bold=True), third))


def instance_table(found: Fusion) -> Table:
    """Instances before and after, and how many compute what was computed already."""
    rows = tuple((name, f"{a:,}", f"{b:,}", f"{max(0, b - a):,}") for name, a, b in found.instances)
    return Table(rows, "", ("instances of", "before", "after", "computed again"), mono=(0,), right=(1, 2, 3))


def saving_table(found: Fusion) -> Table:
    """Bytes through each cache, before, after, and the difference."""
    rows = tuple(
        (s.cache, bytes_text(s.before), bytes_text(s.after), _saved(s.before - s.after)) for s in found.savings
    )
    return Table(rows, "", ("bytes through", "before", "after", "saved"), right=(1, 2, 3))


def _saved(count: int) -> str:
    return f"−{bytes_text(-count)}" if count < 0 else bytes_text(count)


def _notes(found: Fusion, small: Subject) -> list[str]:
    """Which tile is drawn, at which sizes."""
    where = ", ".join(f"{n}={v}" for n, v in found.at.items())
    sizes = ", ".join(f"{k}={v}" for k, v in small.program.sizes.items())
    tile = f"The tile is the iteration {where} of the loops around both." if where else "The statements share no loop."
    return [f"{tile} Drawn for {sizes}; counts and bytes are for {found.title}."]


def fusion_text(found: Fusion) -> str:
    """The counts, and what the tile needs."""
    where = ", ".join(f"{n}={v}" for n, v in found.at.items()) or "everything"
    times = max(found.producer.times.values(), default=1)
    need = f"{len(found.producer.needed)} of {len(found.producer.times)} instances of {found.producer.name}"
    instances = number_of(len(found.consumer.needed), "instance")
    return "\n".join([
        f"{found.step}: {found.title}",
        f"  the tile {where} ({instances} of {found.consumer.name}) needs {need}",
        f"  one of them is computed up to {number_of(times, 'time')} in all",
        *table_text(instance_table(found), "  "),
        *table_text(saving_table(found), "  "),
    ])  # fmt: skip
