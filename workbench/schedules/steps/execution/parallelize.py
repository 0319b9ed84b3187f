"""`parallelize`: the iterations of a loop run on several threads."""

from __future__ import annotations

from typing import ClassVar

from workbench.poly.programs.tree import LoopKind
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.steps.support.execution import Execution


@record
class Parallelize(Execution):
    """Distribute the iterations of a loop over threads.

    before → after:  for m: S   →   parallel for m: S

    Legal when no dependence joins two iterations; a reduction carried by the loop would race.
    """

    name: ClassVar[str] = "parallelize"
    kind: ClassVar[LoopKind] = "parallel"


@takes_choices
def parallelize(loop: str, /) -> Parallelize:
    """Run the iterations of `loop` on several threads."""
    return Parallelize(loop)
