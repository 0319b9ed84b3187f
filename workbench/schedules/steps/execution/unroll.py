"""`unroll`: the iterations of a loop are written out."""

from __future__ import annotations

from typing import ClassVar

from workbench.poly.programs.tree import LoopKind
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.steps.support.execution import Execution


@record
class Unroll(Execution):
    """Write the iterations of a loop out.

    before → after:  for m < 4: S(m)   →   S(0); S(1); S(2); S(3)

    Always legal.  A loop without a constant number of iterations is left as it is.
    """

    name: ClassVar[str] = "unroll"
    kind: ClassVar[LoopKind] = "unroll"


@takes_choices
def unroll(loop: str, /) -> Unroll:
    """Write the iterations of `loop` out."""
    return Unroll(loop)
