"""`arena`: what lies where in a model's memory, step by step, below what the whole arena takes."""

from __future__ import annotations

from workbench.errors import WorkbenchError, shown
from workbench.graph.memory import MemoryPlan
from workbench.graph.memory.plans import Placed
from workbench.viz.draw.palette import array_role
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.quantities import bytes_text
from workbench.viz.draw.scene import MONO_WIDTH, Box, Line, Mark, Path, Scene, Text, above, paragraph
from workbench.viz.draw.tables import Table, table_text
from workbench.wording import number_of

WIDE, HIGH, LEFT, TOP = 700.0, 320.0, 70.0, 34.0
WIDEST_STEP = 64.0
FONT, BAR = 10.5, 32
NOTE = (
    "A box is a buffer: as wide as the steps during which it is needed, as high as its bytes. Buffers of one colour "
    "share bytes: one is written over another, or is a part or a view of it."
)
LINES = "The thick line is what is in use; what is dashed is in use at the worst moment, and the least that is enough."


def arena(plan: MemoryPlan) -> Picture:
    """The arena of a memory plan over time: steps to the right, bytes upwards.

    A plan for all sizes is seen `at` some.  WorkbenchError for what is no plan.
    """
    if not isinstance(plan, MemoryPlan):
        raise WorkbenchError(f"arena: {shown(plan)} is no MemoryPlan; a plan for all sizes has one: plan.at(sizes)")
    return Picture(arena_text(plan), arena_scene(plan), data=plan)


def arena_text(plan: MemoryPlan) -> str:
    """A row for each step: what is in use, a bar of it, what is written where."""
    unit = max(plan.bytes, 1) / BAR
    rows = tuple(
        (step.name, bytes_text(live), "█" * round(live / unit), ", ".join(f"{n} at {plan.offsets[n]}" for n in written))
        for step, live in zip(plan.lifetimes.steps, plan.live_bytes, strict=True)
        for written in [[name for name in step.writes if name in plan.offsets]]
    )
    table = Table(rows, "", ("step", "in use", f"of {bytes_text(plan.bytes)}", "writes"), right=(1,))
    return "\n".join([_heading(plan), *table_text(table, "  ")])


def _heading(plan: MemoryPlan) -> str:
    return f"arena of {bytes_text(plan.bytes)} for {number_of(len(plan.places), 'buffer')} ({plan.planner})"


def arena_scene(plan: MemoryPlan) -> Scene:
    """The boxes over their axes, and what they mean."""
    step = min(WIDEST_STEP, WIDE / (len(plan.lifetimes.steps) + 1))
    drawing = _Drawing(plan, step)
    chart = Scene(LEFT + drawing.width + 24, TOP + HIGH + 36, tuple(drawing.marks()), _heading(plan))
    return above(chart, paragraph((NOTE, LINES), chart.width), gap=8)


def arena_boxes(plan: MemoryPlan) -> dict[str, Box]:
    """The box of each buffer of the scene, by name."""
    drawing = _Drawing(plan, min(WIDEST_STEP, WIDE / (len(plan.lifetimes.steps) + 1)))
    role = _roles(plan)
    return {place.buffer: drawing.box(place, role[place.buffer]) for place in plan.places if place.size}


class _Drawing:
    """Pixels of steps and bytes."""

    def __init__(self, plan: MemoryPlan, step: float) -> None:
        self.plan, self.step, self.width = plan, step, step * (len(plan.lifetimes.steps) + 1)

    def x(self, step: float) -> float:
        return LEFT + self.step * step

    def y(self, offset: float) -> float:
        return TOP + HIGH - HIGH * offset / max(self.plan.bytes, 1)

    def marks(self) -> list[Mark]:
        role = _roles(self.plan)
        found: list[Mark] = [Text(0, 13, _heading(self.plan), 12.5, bold=True), *self._axes()]
        found += [self.box(place, role[place.buffer]) for place in self.plan.places if place.size]
        return [*found, *self._lines(), *self._names()]

    def _axes(self) -> list[Mark]:
        bottom, right = self.y(0), LEFT + self.width
        found: list[Mark] = [Box(LEFT, TOP, self.width, HIGH, "panel", "grid", 0.0)]
        for part in range(5):
            size = self.plan.bytes * part / 4
            found.append(Line((LEFT, self.y(size)), (right, self.y(size)), "grid", 0.8))
            found.append(Text(LEFT - 7, self.y(size) + 4, bytes_text(size), FONT, "soft", "end"))
        every = next(n for n in (1, 2, 5, 10, 20, 50, 100, 1000) if n * self.step >= 24 or n == 1000)
        for number in range(0, len(self.plan.lifetimes.steps), every):
            found.append(Text(self.x(number + 0.5), bottom + 14, str(number), FONT, "soft", "middle"))
        return [*found, Text(right, bottom + 30, "steps", FONT + 1, "ink", "end")]

    def box(self, place: Placed, role: str) -> Box:
        """The box of a buffer."""
        left, top = self.x(place.first), self.y(place.end)
        inset = min(0.75, 0.1 * self.step)
        width = self.x(place.last + 1) - left - 2 * inset
        height = max(self.y(place.offset) - top, 0.6)
        return Box(left + inset, top, width, height, role, role, min(2.5, height / 4, self.step / 4), 0.4)

    def _lines(self) -> list[Mark]:
        """Bytes in use as a stair, and the worst moment."""
        heights = [self.y(size) for size in self.plan.live_bytes]
        stair = tuple((self.x(n + side), y) for n, y in enumerate(heights) for side in (0, 1))
        worst, right = self.y(self.plan.needed_bytes), LEFT + self.width
        found: list[Mark] = [Path(stair, "ink", 1.8, 0.85)] if stair else []
        return [*found, Line((LEFT, worst), (right, worst), "ink", 1.2, (5, 4))]

    def _names(self) -> list[Mark]:
        """The name of every buffer whose box has room for it."""
        found: list[Mark] = []
        for place in self.plan.places:
            width = self.step * (place.last + 1 - place.first)
            height = self.y(place.offset) - self.y(place.end)
            if len(place.buffer) * FONT * MONO_WIDTH < width - 6 and height > FONT + 2:
                middle = self.x((place.first + place.last + 1) / 2), (self.y(place.offset) + self.y(place.end)) / 2
                found.append(Text(middle[0], middle[1] + FONT / 3, place.buffer, FONT, "ink", "middle", mono=True))
        return found


def _roles(plan: MemoryPlan) -> dict[str, str]:
    """Buffer → colour: one for all that share bytes."""
    leader = {place.buffer: place.buffer for place in plan.places}

    def found(name: str) -> str:
        while leader[name] != name:
            name = leader[name]
        return name

    for share in plan.taken:
        leader[found(share.output)] = found(share.input)
    colours = {first: array_role(n) for n, first in enumerate(dict.fromkeys(map(found, leader)))}
    return {name: colours[found(name)] for name in leader}
