"""What marks of a time map say of the part below them: one frozen value a kind, with what each has to carry.

A value shows itself as text (`prefetch A 3`), and is kept in records as two fields, `name` and `value`, which
`annotation` reads back.
"""

from __future__ import annotations

from typing import Any, ClassVar

from workbench.errors import ScheduleError, shown, unknown_name
from workbench.records import record


class Annotation:
    """What a mark says; `value` is what it says it of, as text, or None where the name says everything."""

    __slots__ = ()
    name: ClassVar[str]

    @property
    def value(self) -> str | None:
        return None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name} {self.value}"


@record
class BarrierBefore(Annotation):
    """A barrier before the part: iterations of the loops around that run at once wait there for one another."""

    name: ClassVar[str] = "barrier"


@record
class AtomicUpdates(Annotation):
    """The updates in the part are atomic."""

    name: ClassVar[str] = "atomic"


@record
class AsyncCopies(Annotation):
    """The part copies, and nobody waits for it before the first use."""

    name: ClassVar[str] = "async"


@record
class NontemporalStores(Annotation):
    """What the part writes goes to memory past the caches."""

    name: ClassVar[str] = "nontemporal"


@record
class PrefetchAhead(Annotation):
    """Each iteration of the part's outermost loop asks for what one `distance` later touches of an array first."""

    name: ClassVar[str] = "prefetch"
    array: str
    distance: int

    @property
    def value(self) -> str:
        return f"{self.array} {self.distance}"


@record
class ExecutedBy(Annotation):
    """A micro-kernel executes the part; `kernel` is the name under which it is registered."""

    name: ClassVar[str] = "replace"
    kernel: str

    @property
    def value(self) -> str:
        return self.kernel


PLAIN: dict[str, type[Annotation]] = {
    kind.name: kind for kind in (BarrierBefore, AtomicUpdates, AsyncCopies, NontemporalStores)
}
"""The kinds that carry nothing, by name."""


def annotation(name: Any, value: Any) -> Annotation:
    """The annotation that a record keeps as its name and value; ScheduleError that lists the known ones."""
    match name, value:
        case str(), None if name in PLAIN:
            return PLAIN[name]()
        case PrefetchAhead.name, str():
            array, _, distance = value.rpartition(" ")
            if array and distance.isdecimal():
                return PrefetchAhead(array, int(distance))
        case ExecutedBy.name, str():
            return ExecutedBy(value)
    known = [*PLAIN, PrefetchAhead.name, ExecutedBy.name]
    if name in known:
        raise ScheduleError(f"a mark {name} cannot say {shown(value)}")
    raise ScheduleError(unknown_name("mark", name, known))
