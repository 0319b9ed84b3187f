"""What may be done at a loop or a statement: legal steps first, by what they are expected to gain, each with why."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.poly.sets import isl
from workbench.records import record
from workbench.schedules import Schedule, Verdict
from workbench.schedules.transform import Transform
from workbench.target import Target
from workbench.viz.messages.stepping import BlockSizes, Choice, MenuData
from workbench.viz.panels.assumed import with_sizes
from workbench.viz.panels.choosing.candidates import Blocks, blocks, candidates, chosen
from workbench.viz.panels.choosing.gains import Gain, estimate, gain, unmodelled
from workbench.viz.panels.choosing.remarks import Remark, remarks

if TYPE_CHECKING:
    from workbench.viz.panels.widget import Panel

SECONDS = 2.0  # of looking, all parts together


@record
class Ranked:
    """A step with its verdict and what it is expected to gain."""

    step: Transform
    verdict: Verdict
    gain: Gain
    remarks: tuple[Remark, ...] = ()


class Menu:
    """The steps about one loop (as steps name it), one statement, or of neither those with which to begin.

    Looked at in parts, for who has other things to do in between; `more` says whether some are left.
    """

    def __init__(self, schedule: Schedule, target: Target, loop: str = "", statement: str = "") -> None:
        self.schedule, self.target, self.of = schedule, target, (loop, statement)
        self.more, self._ended = True, False
        self._left = SECONDS
        self._base = with_sizes(schedule)[0]
        self._now = None if self._base is None else estimate(self._base, target)
        self._steps = candidates(schedule, target, loop, statement)
        self._found: dict[Transform, Ranked] = {}
        self.blocks: list[Blocks] = []
        if loop:
            own, loops = chosen(schedule, loop, statement)
            self.blocks = blocks(schedule, target, own, loops)

    def advance(self, seconds: float) -> None:
        """Look at steps for about so long."""
        end = time.monotonic() + seconds
        while self.more and (start := time.monotonic()) < end:
            with isl.deadline(self._left):
                step = next(self._steps, None)
                if step is not None and step not in self._found:
                    verdict = self._judged(step)
                    found = gain(self._now, self._base, step) if verdict else Gain()
                    told = remarks(self._base or self.schedule, step) if verdict else ()
                    self._found[step] = Ranked(step, verdict, found, tuple(told))
            self._left -= time.monotonic() - start
            self._ended = step is None
            self.more = step is not None and self._left > 0

    def _judged(self, step: Transform) -> Verdict:
        try:
            return self.schedule.can(step)
        except WorkbenchError as error:
            return Verdict("unknown", reason=str(error))

    @property
    def complete(self) -> bool:
        """Whether every step was looked at, and not only those for which there was time."""
        return self._ended

    @property
    def unmodelled(self) -> str:
        """Why no step's gain is known; empty where a model has looked."""
        return unmodelled(self._now)

    @property
    def ranked(self) -> list[Ranked]:
        """Legal ones by their gain, then those refused with a witness; what does not fit at all is left out."""
        legal = [found for found in self._found.values() if found.verdict]
        refused = [found for found in self._found.values() if not found.verdict and found.verdict.violations]
        return [*sorted(legal, key=lambda found: -found.gain.factor), *refused]


def asked_menu(panel: Panel, loop: str = "", statement: str = "", part: float = 0.05) -> MenuData:
    """What may be done at a loop or a statement of a panel, looked at for so many seconds more."""
    known = [menu for menu in panel.menus if menu.schedule is panel.schedule and menu.target == panel.target]
    found = next((menu for menu in known if menu.of == (loop, statement)), None)
    if found is None:
        found = Menu(panel.schedule, panel.target, loop, statement)
        known.append(found)
    panel.menus = known
    found.advance(part)
    return menu_payload(found)


def menu_payload(menu: Menu) -> MenuData:
    """The menu as far as it was looked at."""
    return {
        "steps": [_choice(found) for found in menu.ranked],
        "blocks": [_blocks(one) for one in menu.blocks],
        "more": menu.more,
        "complete": menu.complete,
        "unmodelled": menu.unmodelled,
    }


def _choice(found: Ranked) -> Choice:
    reason = "" if found.verdict else found.verdict.explain().partition("\n")[0].partition("; ")[0]
    return {
        "text": str(found.step), "kind": found.step.name, "step": found.step.to_json(), "legal": bool(found.verdict),
        "reason": reason, "gain": round(found.gain.factor, 3),
        "why": [*found.gain.reasons, *(told.text for told in found.remarks)],
        "warns": any(told.warns for told in found.remarks),
    }  # fmt: skip


def _blocks(one: Blocks) -> BlockSizes:
    return {"loop": one.loop, "iterations": one.iterations, "sizes": [(n, why) for n, why in one.sizes]}
