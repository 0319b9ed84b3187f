"""Steps with choices in place of arguments, and choices in place of steps: what a sketch is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from workbench.records import record
from workbench.schedules.choices import Alternative, Choice, left_open, python_of
from workbench.schedules.transform import Recipe, Transform

if TYPE_CHECKING:
    from workbench.schedules.scheduled_program import Schedule

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


def mapped(step: Transform, change: Callable[[Choice], Any]) -> Transform | None:
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
                options = (o if o is None else mapped(o, change) for o in found.options)
                return Alternative(Choice(tuple(options), found.name))
            return None if found is None else mapped(found, change)
        case Recipe(parts):
            kept = [p for p in (mapped(part, change) for part in parts) if p is not None]
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
