"""`choose`: a choice among steps or values, for a slider, a menu, a loop, or a decision of a sketch.

Steps in which choices stand in place of arguments are open (`Open`): what sketches are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from workbench.errors import ScheduleError, shown
from workbench.records import record
from workbench.schedules.transform import Recipe, Together, Transform, as_step

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


Make = TypeVar("Make", bound=Callable[..., Any])

FUNCTIONS: dict[str, Callable[..., Transform]] = {}
"""The functions that make steps and take choices, by name."""


@record
class Open(Transform):
    """A step that is not made yet: a function, and arguments some of which are choices."""

    function: str
    arguments: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]

    leaves_open: ClassVar[bool] = True

    def on(self, schedule: Schedule) -> Schedule:
        raise left_open(self)

    def python(self) -> str:
        positional = [python_of(a) for a in self.arguments]
        return f"{self.function}({', '.join([*positional, *(f'{k}={python_of(v)}' for k, v in self.keywords)])})"

    def __str__(self) -> str:
        return self.python().replace("wb.", "")


def takes_choices(make: Make) -> Make:
    """The function of a step, which makes an open step where a choice stands in place of an argument."""

    @wraps(make)
    def made(*arguments: Any, **keywords: Any) -> Any:
        if any(True for _ in _choices_in((arguments, keywords))):
            return Open(make.__name__, arguments, tuple(keywords.items()))
        return make(*arguments, **keywords)

    FUNCTIONS[make.__name__] = made
    return made  # type: ignore[return-value]


def choices_of(step: Transform) -> Iterator[tuple[str, Choice]]:
    """(what it would be called, choice) of each place of a step where one stands."""
    match step:
        case Open(function, arguments, keywords):
            for number, argument in enumerate(arguments):
                word = "" if len(arguments) == 1 else str(number)
                yield from ((_joined(function, word, inside), c) for inside, c in _choices_in(argument))
            for name, value in keywords:
                yield from ((_joined(f"{function}_{name}", inside), c) for inside, c in _choices_in(value))
        case Alternative(choice):
            yield _first_word(choice), choice
            for option in choice.options:
                if option is not None:
                    yield from choices_of(option)
        case Recipe(parts):
            for part in parts:
                yield from choices_of(part)


def map_choices(step: Transform, change: Callable[[Choice], Any]) -> Transform | None:
    """The step with something else in place of each choice; None for a step that is not taken.

    Where `change` gives no choice but an option, the step is made.
    """
    match step:
        case Open(function, arguments, keywords):
            given = _mapped_value(arguments, change)
            named = {name: _mapped_value(value, change) for name, value in keywords}
            if function not in FUNCTIONS:  # a sketch that came from another process, which had loaded them
                len(Transform.known)
            return FUNCTIONS[function](*given, **named)
        case Alternative(choice):
            found = change(choice)
            if isinstance(found, Choice):
                options = (o if o is None else map_choices(o, change) for o in found.options)
                return Alternative(Choice(tuple(options), found.name))
            return None if found is None else map_choices(found, change)
        case Recipe(parts):
            kept = [p for p in (map_choices(part, change) for part in parts) if p is not None]
            return type(step)(tuple(kept)) if kept else None
    return step


def _choices_in(value: Any) -> Iterator[tuple[str, Choice]]:
    """(the words on the way to it, choice) inside tuples, lists and mappings."""
    match value:
        case Choice():
            yield "", value
        case Mapping():
            for key, inside in value.items():
                yield from ((_joined(str(key), way), choice) for way, choice in _choices_in(inside))
        case tuple() | list():
            for number, inside in enumerate(value):
                word = "" if len(value) == 1 else str(number)
                yield from ((_joined(word, way), choice) for way, choice in _choices_in(inside))


def _mapped_value(value: Any, change: Callable[[Choice], Any]) -> Any:
    match value:
        case Choice():
            return change(value)
        case Mapping():
            return {key: _mapped_value(inside, change) for key, inside in value.items()}
        case tuple() | list():
            return type(value)(_mapped_value(inside, change) for inside in value)
    return value


def _joined(*words: str) -> str:
    """Words as one name: `tile`, `C/m` → `tile_C_m`."""
    text = "_".join(word for word in words if word)
    return "".join(c if c.isalnum() else "_" for c in text)


def _first_word(choice: Choice) -> str:
    step = next(option for option in choice.options if option is not None)
    return str(step).partition("(")[0]
