"""Steps that change several loops of one band, and build it anew."""

from __future__ import annotations

from workbench.errors import ScheduleError
from workbench.poly.programs.tree import Band
from workbench.schedules.edit import Site
from workbench.schedules.transform import Transform


def one_band(step: Transform, found: list[Site]) -> Band:
    """The band that holds all the loops; ScheduleError if they stand in different nests."""
    if len({site.path for site in found}) > 1:
        names = ", ".join(site.loop.name for site in found)
        raise ScheduleError(
            f"{step}: loops {names} are not directly inside one another; bring them together first "
            "(distribute, decompose_reduction)"
        )
    if len({site.position for site in found}) < len(found):
        raise ScheduleError(f"{step}: a loop is named twice")
    return found[0].band
