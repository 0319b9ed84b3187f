"""`vectorize`: the iterations of a loop run in the lanes of vector registers."""

from __future__ import annotations

from typing import ClassVar

from workbench.poly.programs.tree import LoopKind
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.steps.support.execution import Execution


@record
class Vectorize(Execution):
    """Execute neighbouring iterations in the lanes of a vector register.

    before → after:  for n: S   →   vector for n: S

    The lanes run in lockstep: each statement ends in all of them before the next begins.  Legal when every dependence
    between two iterations goes to a later lane and a later statement; contributions to one cell of a reduction may
    meet in any lanes: each keeps a partial result, combined at the end (the order of additions changes).
    The generator cuts the loop to the vector width and handles the tail.
    """

    name: ClassVar[str] = "vectorize"
    kind: ClassVar[LoopKind] = "vector"


@takes_choices
def vectorize(loop: str, /) -> Vectorize:
    """Run the iterations of `loop` in vector lanes."""
    return Vectorize(loop)
