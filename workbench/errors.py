"""Every exception of the workbench on one screen.

All derive from `WorkbenchError`, so `except wb.errors.WorkbenchError` catches whatever the
workbench itself refuses.  Each message says what was wrong, where, what was expected and what
to do next; `unknown_name` is the one way to report a name that does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from reprlib import Repr
from typing import Any, ClassVar


class WorkbenchError(Exception):
    """Base of every error the workbench raises on purpose."""


class OperatorError(WorkbenchError):
    """The operator text is wrong; the message shows the token with a caret, several errors at once."""


class ModelError(WorkbenchError):
    """A model is wrong: its text, its names or its types; the message shows the place, several errors at once."""


class UnsupportedModel(ModelError):
    """A model of another framework has a part that cannot be taken over; the message names it and its place.

    `inputs` are names of the model's inputs whose values would have to be known, if that is why.
    """

    def __init__(self, message: str, inputs: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.inputs = tuple(inputs)

    def at(self, place: str) -> UnsupportedModel:
        """The error with its place in front, if it does not name it already."""
        text = str(self)
        return self if text.startswith(place) else UnsupportedModel(f"{place}: {text}", self.inputs)


class CallError(WorkbenchError):
    """The arrays or scalars given to an operator or kernel do not fit it."""


class EngineError(WorkbenchError):
    """An engine for parts of models is unknown, crashed, hung, or did not give what it said it would."""


class UnknownName(WorkbenchError, AttributeError):
    """The workbench has nothing of this name."""


class UnknownOperator(UnknownName):
    """The library has no operator of this name."""


class LoweringError(WorkbenchError):
    """The operator has no polyhedral program for these sizes (a subscript that is not affine, ...)."""


class BudgetExceeded(WorkbenchError):
    """A polyhedral computation was stopped by its operation cap or by the clock."""


class ScheduleError(WorkbenchError):
    """A schedule step does not apply (an unknown loop, a name that exists already, ...)."""


class UnknownLoop(ScheduleError):
    """A step names a loop that is not there.

    `name` is that name, `known` lists the loops there are; `consumed_by` is the step that took the loop away, if any.
    """

    def __init__(self, message: str, name: str = "", known: Iterable[str] = (), consumed_by: Any = None) -> None:
        super().__init__(message)
        self.name = name
        self.known = tuple(known)
        self.consumed_by = consumed_by


class UnchangedSchedule(ScheduleError):
    """A schedule step applies but would change nothing: it is left out."""


class IllegalSchedule(ScheduleError):
    """A schedule step applies but changes the result.

    `verdict` and its `violations` hold the witnesses; `repairs` are sequences of steps, each checked, that may stand
    in place of the refused one, the nearest first.  Where the `schedule` and the refused `step` are known, message and
    repairs are made when they are first asked for (repairs within a second); the text of the error shows the first.
    """

    search: ClassVar[Callable[[Any, Any, Any], Iterable[Any]]] = staticmethod(lambda schedule, step, verdict: ())
    """Looks for repairs of a refused step; the room of schedules, which has them, puts its own here."""

    def __init__(
        self, message: str | None, verdict: Any = None, repairs: Iterable[Any] | None = None,
        *, schedule: Any = None, step: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(*([] if message is None else [message]))
        self.verdict, self.schedule, self.step = verdict, schedule, step
        self._repairs = repairs

    @property
    def reason(self) -> str:
        """The message without repairs."""
        if self.args:
            return str(self.args[0])
        try:
            self.args = (f"{self.step}: {self.verdict.explain()}",)
        except BudgetExceeded:  # the sizes for which it would be legal are too much work
            self.args = (f"{self.step}: {self.verdict}",)
        return str(self.args[0])

    @property
    def violations(self) -> tuple[Any, ...]:
        """What is violated, each with its smallest sizes and two instances; after an instance or storage step, values
        that would come from elsewhere.
        """
        return getattr(self.verdict, "violations", ()) or getattr(self.verdict, "differences", ())

    @property
    def repairs(self) -> tuple[Any, ...]:
        """Recipes that are accepted in place of the refused step."""
        return tuple(self._offered())

    @property
    def why_no_repair(self) -> str:
        """Why no repair is known, in words; empty where there is one."""
        return getattr(self._offered(), "why_none", "")

    def _offered(self) -> Iterable[Any]:
        if self._repairs is None:
            known = self.step is not None
            self._repairs = IllegalSchedule.search(self.schedule, self.step, self.verdict) if known else ()
        return self._repairs

    def __str__(self) -> str:
        first = next(iter(self._offered()), None)
        return self.reason + ("" if first is None else f"; instead: {first}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.verdict, self.repairs)


class CodegenError(WorkbenchError):
    """A schedule cannot be written in the target's language."""


class CertificationError(WorkbenchError):
    """The text of a kernel could not be shown to compute what its operator says; `difference` is the first one found,
    None where the proof ended for another reason."""

    def __init__(self, message: str, difference: Any = None) -> None:
        super().__init__(message)
        self.difference = difference


class BuildError(WorkbenchError):
    """The compiler is missing, refused the text, crashed or hung."""


class KernelError(WorkbenchError):
    """A kernel refused its arrays, or found an index out of range while it ran."""


class VerificationError(WorkbenchError):
    """A kernel's result differs from the oracle by more than the bound allows."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> str:
    """Message for an unknown name, or for what is no name at all: lists the known ones and the closest.

    >>> unknown_name("loop", "mm", ["m", "n", "k"])
    "unknown loop 'mm'; did you mean 'm'? known: m, n, k"
    """
    names = list(known)
    close = get_close_matches(name, names, n=1, cutoff=0.5) if isinstance(name, str) else []
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"unknown {kind} {shown(name)}; {hint}known: {', '.join(names) or '(none)'}"


def shown(value: object) -> str:
    """A value for a message: its `repr`, cut where it is long.

    >>> shown("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxxx'"
    """
    return _SHORT.repr(value)


_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 62
