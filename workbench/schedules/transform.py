"""`Transform`: one small frozen class a step.  Adding one touches one file; subclasses register themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.errors import ScheduleError, shown, unknown_name
from workbench.records import record

if TYPE_CHECKING:
    from workbench.schedules.scheduled_program import Schedule


class Registry(Mapping[str, "type[Transform]"]):
    """Every step by name, in alphabetical order; asking loads them all."""

    def __init__(self) -> None:
        self._found: dict[str, type[Transform]] = {}
        self._loaded = False

    def add(self, kind: type[Transform]) -> None:
        """Make a step known by its name."""
        self._found[kind.name] = kind

    def _all(self) -> dict[str, type[Transform]]:
        if not self._loaded:
            import_module("workbench.schedules.steps").load()
            self._loaded = True
        return self._found

    def __getitem__(self, name: str) -> type[Transform]:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._all()))

    def __len__(self) -> int:
        return len(self._all())


class Transform:
    """A step from one schedule to another.

    A subclass is a frozen dataclass whose docstring states its law (`before → after`).  `apply` is
    pure and only edits; legality is judged alike for all steps by `Schedule.__or__`.
    """

    name: ClassVar[str] = ""
    known: ClassVar[Registry] = Registry()

    def __init_subclass__(cls) -> None:
        if cls.name:
            Transform.known.add(cls)

    def apply(self, schedule: Schedule) -> Schedule:
        """The edited schedule; ScheduleError if the step does not fit it."""
        raise NotImplementedError

    def prerequisites(self, schedule: Schedule) -> tuple[Transform, ...]:
        """Steps that must come first (an initialisation moved out of the way); they enter the trace."""
        return ()

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Transform]:
        """Instances of this step that a searcher or a menu may offer here."""
        return iter(())

    def on(self, schedule: Schedule) -> Schedule:
        """Prerequisites, then the step itself."""
        for step in self.prerequisites(schedule):
            schedule = step.on(schedule)
        return self.apply(schedule)

    @classmethod
    def from_arguments(cls, arguments: dict[str, Any]) -> Transform:
        """The inverse of `to_json`, without the step's name."""
        return cls(**arguments)

    def __or__(self, other: Transform) -> Recipe:
        return Recipe((*self.steps(), *as_step(other).steps()))

    def steps(self) -> tuple[Transform, ...]:
        """The single steps this one consists of."""
        return (self,)

    def python(self) -> str:
        """The step as the call of a public function that makes an equal one."""
        return str(self)

    def to_json(self) -> dict[str, Any]:
        """The step as plain data: its name and arguments."""
        return {"step": self.name, **{f.name: _plain(getattr(self, f.name)) for f in fields(self)}}  # type: ignore[arg-type]


@record
class Recipe(Transform):
    """Several steps as one value; each is judged as it is applied with `|` one after another."""

    composed: ClassVar[str] = "recipe"
    parts: tuple[Transform, ...]

    def steps(self) -> tuple[Transform, ...]:
        return self.parts

    def on(self, schedule: Schedule) -> Schedule:
        for part in self.parts:
            schedule = schedule | part
        return schedule

    def to_json(self) -> dict[str, Any]:
        return {"step": self.composed, "steps": [part.to_json() for part in self.parts]}

    def python(self) -> str:
        return " | ".join(part.python() for part in self.parts)

    def __str__(self) -> str:
        return " | ".join(str(part) for part in self.parts)


@record
class Together(Recipe):
    """Several steps judged only at their end: `naive | together(step, step)`."""

    composed: ClassVar[str] = "together"

    def steps(self) -> tuple[Transform, ...]:
        return (self,)

    def on(self, schedule: Schedule) -> Schedule:
        for part in self.parts:
            schedule = part.on(schedule)
        return schedule

    def python(self) -> str:
        return f"together({', '.join(part.python() for part in self.parts)})"

    def __str__(self) -> str:
        return f"together({', '.join(str(part) for part in self.parts)})"


def together(*steps: Transform) -> Together:
    """Steps judged as one: what lies between them may be illegal."""
    return Together(tuple(single for step in steps for single in singles(as_step(step))))


def singles(step: Transform) -> tuple[Transform, ...]:
    """The single steps of recipes inside recipes, in order."""
    return tuple(s for part in step.parts for s in singles(part)) if isinstance(step, Recipe) else (step,)


def as_step(value: Any) -> Transform:
    """The value if it is a step; ScheduleError otherwise."""
    if isinstance(value, Transform):
        return value
    if callable(value) and hasattr(value, "__name__"):
        raise ScheduleError(f"expected a step, not the function {value.__name__}; call it: {value.__name__}(...)")
    raise ScheduleError(f"expected a step, such as tile(m=64), not {shown(value)}")


def from_json(data: dict[str, Any]) -> Transform:
    """The step that `to_json` described; ScheduleError for an unknown one."""
    if not isinstance(data, dict):
        raise ScheduleError(f"a recorded step is a dict such as {{'step': 'split', ...}}, not {shown(data)}")
    arguments = dict(data)
    name = arguments.pop("step", "")
    if name in _COMPOSED:
        parts = arguments.get("steps")
        if not isinstance(parts, list | tuple):
            raise ScheduleError(f"recorded step {name!r} needs a list of steps, not {shown(parts)}")
        return _COMPOSED[name](tuple(from_json(part) for part in parts))
    if not isinstance(name, str) or name not in Transform.known:
        raise ScheduleError(unknown_name("step", name, sorted(Transform.known)))
    try:
        return Transform.known[name].from_arguments({key: _frozen(value) for key, value in arguments.items()})
    except (KeyError, TypeError, ValueError) as error:
        expected = ", ".join(f.name for f in fields(Transform.known[name]))  # type: ignore[arg-type]
        raise ScheduleError(
            f"recorded step {name!r} has the arguments {shown(arguments)}; expected {expected}"
        ) from error


def _plain(value: Any) -> Any:
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


def _frozen(value: Any) -> Any:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value


_COMPOSED = {kind.composed: kind for kind in (Recipe, Together)}
