"""`choose`: a choice among steps or values, for a slider, a menu, a loop, or a decision of a sketch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.errors import ScheduleError, shown
from workbench.records import record
from workbench.schedules.transform import Together, Transform, as_step

if TYPE_CHECKING:
    from workbench.schedules.scheduled_program import Schedule


@record
class Choice:
    """Several options of which one is taken: steps (None for no step), or values for an argument of a step.

    It is iterated like a tuple, so `ipywidgets.interact(f, tile=choice)` makes a menu of it without knowing it.  In
    place of an argument or of a step it makes a sketch of a schedule; one choice in two places is one decision.  The
    first option is the default.
    """

    options: tuple[Any, ...]
    name: str | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.options)

    def __len__(self) -> int:
        return len(self.options)

    def __getitem__(self, place: int) -> Any:
        return self.options[place]

    @property
    def among_steps(self) -> bool:
        """Whether the options are steps."""
        return any(isinstance(option, Transform) for option in self.options)

    @property
    def alternative(self) -> Alternative | None:
        """The step that is one of the options; None for a choice among values."""
        return Alternative(self) if self.among_steps else None

    def legal_on(self, schedule: Schedule) -> Choice:
        """The options that this schedule may take; ScheduleError when none of them is legal, with their reasons."""
        verdicts = [(step, schedule.can(_step(step))) for step in self.options if step is not None]
        legal = tuple(step for step, verdict in verdicts if verdict)
        if not legal:
            reasons = "; ".join(f"{step}: {verdict.explain()}" for step, verdict in verdicts)
            raise ScheduleError(f"choose: no option is legal here: {reasons}")
        return Choice(legal, self.name)

    def __or__(self, other: Any) -> Any:
        return as_step(self) | other

    def __ror__(self, other: Any) -> Any:
        return as_step(self).__ror__(other)

    def __str__(self) -> str:
        options = [str(o) if isinstance(o, Transform) else repr(o) for o in self.options]
        return f"choose({', '.join([*options, *([] if self.name is None else [f'name={self.name!r}'])])})"

    __repr__ = __str__


@record
class Alternative(Transform):
    """One of several steps, or none."""

    choice: Choice

    leaves_open: ClassVar[bool] = True

    def on(self, schedule: Schedule) -> Schedule:
        raise left_open(self)

    def python(self) -> str:
        return python_of(self.choice).removeprefix("wb.")

    def __str__(self) -> str:
        return str(self.choice)


def choose(*options: Any, name: str | None = None) -> Choice:
    """A choice among steps (`choose(wb.tile(m=32), wb.tile(m=64), None)`) or values (`choose(16, 32, 64)`).

    It stands for an argument of a step or for a whole step: `schedule | wb.tile(m=wb.choose(32, 64))` is a Sketch.
    `name` is what the decision is called there; without one it is named by its step and argument.  Raises ScheduleError
    for no option, for the same one twice, and for steps mixed with values.
    """
    if not options:
        raise ScheduleError("choose needs at least one option: choose(16, 32, 64), or steps")
    if name is not None and not (isinstance(name, str) and name.isidentifier()):
        raise ScheduleError(f"choose: name={shown(name)} is no name; expected letters, digits and _, such as 'tile_m'")
    for place, option in enumerate(options):
        if any(type(option) is type(other) and option == other for other in options[:place]):
            raise ScheduleError(f"choose: {shown(option)} is an option twice")
    if len({isinstance(option, Transform) for option in options if option is not None}) > 1:
        raise ScheduleError("choose: steps and values are mixed; give options of one kind")
    return Choice(options, name)


def _step(option: Any) -> Transform:
    if not isinstance(option, Transform):
        raise ScheduleError(f"choose: {shown(option)} is a value, not a step; make steps of the values first")
    return as_step(option)


def python_of(value: Any) -> str:
    """A step or an argument as Python."""
    match value:
        case Choice(options, name):
            return f"wb.choose({', '.join([*map(python_of, options), *([] if name is None else [f'name={name!r}'])])})"
        case Together(parts):
            return f"wb.together({', '.join(map(python_of, parts))})"
        case Transform():
            return f"wb.{value.python()}"
        case Mapping():
            return "{" + ", ".join(f"{key!r}: {python_of(inside)}" for key, inside in value.items()) + "}"
        case tuple():
            return "(" + "".join(f"{python_of(inside)}, " for inside in value).rstrip(" ") + ")"
        case list():
            return "[" + ", ".join(map(python_of, value)) + "]"
    return repr(value)


def left_open(step: Transform) -> ScheduleError:
    """The error for a step that is taken before it is decided."""
    return ScheduleError(f"{step} leaves something open: schedule | {step} is a sketch, and its .at(...) decides")
