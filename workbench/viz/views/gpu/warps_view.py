"""`warps`: the sectors of global memory that one access of a warp touches."""

from __future__ import annotations

from workbench.poly.threads.warps import WarpAccess
from workbench.schedules import Schedule
from workbench.viz.draw.palette import array_role
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.scene import Box, Mark, Scene, Text, above, paragraph
from workbench.viz.views.gpu.warp_phases import LINE, SECTOR, Sector, access_sectors, chosen_access, said
from workbench.wording import number_of

WIDTH, HEIGHT, GAP = 80.0, 34.0, 7.0
IN_ROW = 8
MOST_ROWS = 4
NOTE = (
    "The costliest access of a warp. A box is a sector of 32 bytes, the least that memory moves; coloured is what the "
    "lanes (their numbers) touch of it, below is its place in a line of 128 bytes. Four full sectors are "
    "32 neighbouring floats."
)


def warps(schedule: Schedule, /, statement: str | None = None, *, most: int = 4) -> Picture:
    """The sectors of global memory that an access of a warp touches, for each access of the schedule (or of a
    statement), the most wasteful first, at most `most`.

    LoweringError while sizes are symbolic, ScheduleError for a statement without such an access.
    """
    accesses, count = chosen_access(schedule, "global", statement, most)
    notes = [NOTE] if accesses else ["No access to global memory is known beforehand."]
    if count > len(accesses):
        notes.append(f"{count - len(accesses)} more accesses waste no more than these.")
    width = IN_ROW * (WIDTH + GAP)
    scene = above(*map(_scene, accesses), paragraph(notes, width), gap=16)
    return Picture("\n".join([*map(_heading, accesses), *notes]), scene, data=accesses)


def _heading(access: WarpAccess) -> str:
    found = access_sectors(access)
    used = len({(s.number, at) for s in found for _, at in s.touched}) * min(access.element_bytes, SECTOR)
    moved = len(found) * SECTOR
    many = number_of(len(found), "sector")
    return f"{said(access)}: {many}, {used} of {moved} bytes used ({used / max(1, moved):.0%})"


def _scene(access: WarpAccess) -> Scene:
    found = access_sectors(access)
    shown = found[: IN_ROW * MOST_ROWS]
    head = Text(0, 13, _heading(access), 13, bold=True)
    marks: list[Mark] = [head]
    for n, sector in enumerate(shown):
        x, y = n % IN_ROW * (WIDTH + GAP), 24 + n // IN_ROW * (HEIGHT + 18)
        marks += _sector(sector, access.element_bytes, x, y)
    rows = -(-len(shown) // IN_ROW)
    return Scene(IN_ROW * (WIDTH + GAP), 24 + rows * (HEIGHT + 18), tuple(marks), head.text)


def _sector(sector: Sector, size: int, x: float, y: float) -> list[Mark]:
    """The box, what is touched of it, the lanes, and where the sector lies in its line."""
    marks: list[Mark] = [Box(x, y, WIDTH, HEIGHT, "panel", "grid", 4.0)]
    places = sorted({at for _, at in sector.touched})
    step = WIDTH / SECTOR
    for at in places:
        width = min(size, SECTOR - at) * step
        marks.append(Box(x + at * step + 0.8, y + 2, width - 1.6, HEIGHT - 4, array_role(0), None, 2.0, 0.45))
    lanes = sorted({lane for lane, _ in sector.touched})
    near = lanes == [*range(lanes[0], lanes[-1] + 1)]
    words = str(lanes[0]) if len(lanes) == 1 else f"{lanes[0]}–{lanes[-1]}" if near else f"{lanes[0]}, … {lanes[-1]}"
    marks.append(Text(x + WIDTH / 2, y + HEIGHT / 2 + 4, words, 11, "ink", "middle"))
    marks.append(Text(x + WIDTH / 2, y + HEIGHT + 11, f"+{sector.number * SECTOR % LINE}", 9, "soft", "middle"))
    return marks
