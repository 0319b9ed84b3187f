"""What one access of a warp does, lane by lane: the words of shared memory and their turns, the sectors of the rest."""

from __future__ import annotations

from workbench.errors import ScheduleError, shown
from workbench.poly.threads.warp_costs import WARP
from workbench.poly.threads.warps import WarpAccess
from workbench.records import record
from workbench.schedules.analysis.gpu_reports import bank_conflicts, coalescing

BANKS, WORD, SECTOR, LINE = 32, 4, 32, 128


@record
class Turn:
    """What the banks answer at once: bank → (word, lanes that want it); `again` if an earlier turn should have done."""

    served: dict[int, tuple[int, tuple[int, ...]]]
    again: bool = False


@record
class Sector:
    """32 bytes of memory and the lanes that touch them, with the first byte of each within the sector."""

    number: int
    touched: tuple[tuple[int, int], ...]


def access_turns(access: WarpAccess) -> tuple[Turn, ...]:
    """The turns that shared memory takes for the costliest access: in each, one word of every bank.

    Elements of 8 and 16 bytes go in two and four parts of the warp, one after another.
    """
    words = max(1, access.element_bytes // WORD)
    part = WARP // words
    found: list[Turn] = []
    for first in range(0, WARP, part):
        lanes = [(n, access.lanes[n]) for n in range(first, first + part)]
        found += _turns([(n, at) for n, at in lanes if at is not None], words)
    return tuple(found)


def _turns(lanes: list[tuple[int, int]], words: int) -> list[Turn]:
    wanted: dict[int, dict[int, list[int]]] = {}
    for lane, address in lanes:
        for word in range(address // WORD, address // WORD + words):
            wanted.setdefault(word % BANKS, {}).setdefault(word, []).append(lane)
    most = max((len(each) for each in wanted.values()), default=0)
    queues = {bank: [(word, tuple(own)) for word, own in each.items()] for bank, each in wanted.items()}
    return [Turn({bank: queue[n] for bank, queue in queues.items() if n < len(queue)}, n > 0) for n in range(most)]


def access_sectors(access: WarpAccess) -> tuple[Sector, ...]:
    """The sectors of global memory that the costliest access touches, in the order of addresses."""
    found: dict[int, list[tuple[int, int]]] = {}
    for lane, address in enumerate(access.lanes):
        if address is not None:
            for byte in range(address, address + access.element_bytes, min(access.element_bytes, SECTOR)):
                found.setdefault(byte // SECTOR, []).append((lane, byte % SECTOR))
    return tuple(Sector(number, tuple(found[number])) for number in sorted(found))


def chosen_access(
    schedule: object, memory: str, statement: str | None, most: int
) -> tuple[tuple[WarpAccess, ...], int]:
    """The costliest accesses of a schedule, at most so many, and how many there are in all.

    ScheduleError for a statement that has none.
    """
    report = coalescing(schedule) if memory == "global" else bank_conflicts(schedule)  # type: ignore[arg-type]
    own = [a for a in report.accesses if statement in (None, a.statement)]
    if statement is not None and not own:
        known = ", ".join(dict.fromkeys(a.statement for a in report.accesses)) or "(none)"
        raise ScheduleError(f"{shown(statement)} has no access to {memory} memory; known: {known}")
    ordered = sorted(own, key=lambda a: (a.efficiency, -a.worst))
    return tuple(ordered[:most]), len(own)


def said(access: WarpAccess) -> str:
    """`C reads A_tile(k, m)`."""
    return f"{access.statement} {'reads' if access.kind == 'read' else 'writes'} {access.text}"
