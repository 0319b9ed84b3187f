"""`banks`: the 32 banks of shared memory, and the turns they take for one access of a warp."""

from __future__ import annotations

from workbench.poly.threads.warps import WarpAccess
from workbench.schedules import Schedule
from workbench.viz.draw.palette import array_role
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.scene import Box, Mark, Scene, Text, above, paragraph
from workbench.viz.views.gpu.warp_phases import BANKS, Turn, access_turns, chosen_access, said
from workbench.wording import number_of

CELL, ROW, LEFT = 21.0, 19.0, 54.0
MOST_TURNS = 16
NOTE = (
    "The costliest access of a warp. A column is a bank; a row is a turn, in which each bank answers one word of 4 "
    "bytes to all lanes that want it (their numbers). One row is free of conflicts; elements of 8 or 16 bytes need two "
    "or four."
)


def banks(schedule: Schedule, /, statement: str | None = None, *, most: int = 4) -> Picture:
    """The banks of shared memory at the costliest access of a warp, for each access of the schedule (or of a
    statement), those with the most conflicts first, at most `most`.

    LoweringError while sizes are symbolic, ScheduleError for a statement without shared memory.
    """
    accesses, count = chosen_access(schedule, "shared", statement, most)
    notes = [NOTE] if accesses else ["No access to shared memory is known beforehand."]
    if count > len(accesses):
        notes.append(f"{count - len(accesses)} more accesses have no more conflicts than these.")
    scene = above(*map(_scene, accesses), paragraph(notes, LEFT + BANKS * CELL), gap=16)
    return Picture(_text(accesses, notes), scene, data=accesses)


def _heading(access: WarpAccess, number: int) -> str:
    least = max(1, access.element_bytes // 4)
    conflict = "no conflict" if number <= least else f"{number / least:.3g} times as many as without conflicts"
    return f"{said(access)}: {number_of(number, 'turn')}, {conflict}"


def _text(accesses: tuple[WarpAccess, ...], notes: list[str]) -> str:
    return "\n".join([*(_heading(a, len(access_turns(a))) for a in accesses), *notes])


def _scene(access: WarpAccess) -> Scene:
    found = access_turns(access)
    shown = found[:MOST_TURNS]
    head = Text(0, 13, _heading(access, len(found)), 13, bold=True)
    marks: list[Mark] = [head]
    marks += [Text(LEFT + (b + 0.5) * CELL, 34, str(b), 9.5, "soft", "middle") for b in range(BANKS)]
    marks.append(Text(0, 34, "bank", 11, "soft", italic=True))
    for row, turn in enumerate(shown):
        y = 40 + row * ROW
        marks.append(Text(0, y + 13, f"turn {row + 1}", 11, "soft"))
        marks += _cells(turn, y)
    height = 40 + len(shown) * ROW + 4
    if len(found) > len(shown):
        marks.append(Text(LEFT, height + 10, f"… and {len(found) - len(shown)} more turns", 11, "soft"))
        height += 18
    return Scene(LEFT + BANKS * CELL, height, tuple(marks), head.text)


def _cells(turn: Turn, y: float) -> list[Mark]:
    marks: list[Mark] = []
    for bank in range(BANKS):
        x = LEFT + bank * CELL
        lanes = [*turn.served[bank][1]] if bank in turn.served else []
        role = "bad" if turn.again else array_role(0)
        marks.append(Box(x + 1, y, CELL - 2, ROW - 3, role if lanes else None, "grid", 3.0, 0.18 if lanes else 1.0))
        if lanes:
            several = f"{lanes[0]}+" if len(lanes) > 1 else str(lanes[0])
            marks.append(Text(x + CELL / 2, y + 11.5, several, 9.5, "ink", "middle"))
    return marks
