"""`Transform`: one small frozen class a step.  Adding one touches one file; subclasses register themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, get_type_hints

from workbench.errors import ScheduleError, UnchangedSchedule, shown
from workbench.lang.operator import Operator
from workbench.poly.programs.loop_names import LoopName
from workbench.poly.programs.program import Program
from workbench.poly.sets import isl
from workbench.records import record
from workbench.schedules.recent import recent

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
    leaves_open: ClassVar[bool] = False
    """Whether a choice stands in it, so that it makes a sketch of a schedule."""
    unchanged: ClassVar[str] = "what it asks for is so already"
    """Why a schedule may be as before after this step, for the error that says so."""

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
        """Prerequisites, then the step itself; UnchangedSchedule where that would change nothing."""
        if (known := recent.recall(self, schedule)) is not None:
            return known
        ready = schedule
        for step in self.prerequisites(schedule):
            ready = step.on(ready)
        after = self.apply(ready)
        if not differ(ready, after) and not _is_empty(ready):
            if ready is schedule:
                raise UnchangedSchedule(f"{self} changes nothing: {self.unchanged}. Leave it out")
            after = ready
        recent.note(self, schedule, after)
        return after

    @classmethod
    def from_arguments(cls, arguments: dict[str, Any]) -> Transform:
        """The inverse of `to_json`, without the step's name."""
        return cls(**arguments)

    def halves(self) -> tuple[tuple[LoopName, LoopName], ...]:
        """(a loop that the step cuts into blocks, a loop that it makes of it), for each that it makes."""
        return ()

    def __or__(self, other: Transform) -> Recipe:
        return Recipe((*self.steps(), *as_step(other).steps()))

    def __ror__(self, other: object) -> Any:
        """A step after something that is no schedule: an operator has no loops until it is scheduled."""
        if not isinstance(other, Operator | Program):
            return NotImplemented
        what = "an operator" if isinstance(other, Operator) else "a program"
        start = f"wb.schedule({other.name})"
        raise ScheduleError(f"{other.name} is {what}, and a step changes a schedule: write {start} | {self.python()}")

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

    @property
    def leaves_open(self) -> bool:  # type: ignore[override]
        return any(part.leaves_open for part in self.parts)

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


@isl.guarded
def _is_empty(schedule: Schedule) -> bool:
    """Whether a statement has no instances at these sizes: then any step may find nothing to do."""
    program = schedule.program
    context = isl.parse_set(program.context)
    return any(isl.parse_set(s.domain).intersect_params(context).is_empty() for s in program.statements)


def differ(before: Schedule, after: Schedule) -> bool:
    """Whether two schedules differ in their order, their instances or their storage."""
    if before.tree != after.tree:
        return True
    one, other = before.program, after.program
    parts = ("statements", "arrays", "context")
    return one is not other and any(getattr(one, part) != getattr(other, part) for part in parts)


def applied(schedule: Schedule, *steps: Transform) -> Schedule:
    """The schedule after the steps, not judged; those that would change nothing are left out."""
    for step in steps:
        with suppress(UnchangedSchedule):
            schedule = step.on(schedule)
    return schedule


def together(*steps: Transform) -> Together:
    """Steps judged as one: what lies between them may be illegal."""
    return Together(tuple(single for step in steps for single in singles(as_step(step))))


def recipe(*steps: Transform) -> Transform:
    """One step as it is, several as a Recipe."""
    return steps[0] if len(steps) == 1 else Recipe(steps)


def singles(step: Transform) -> tuple[Transform, ...]:
    """The single steps of recipes inside recipes, in order."""
    return tuple(s for part in step.parts for s in singles(part)) if isinstance(step, Recipe) else (step,)


def as_step(value: Any) -> Transform:
    """The value if it is a step, or a choice among steps; ScheduleError otherwise."""
    if isinstance(value, Transform):
        return value
    if isinstance(alternative := getattr(value, "alternative", None), Transform):
        return alternative
    if callable(value) and hasattr(value, "__name__"):
        raise ScheduleError(f"expected a step, not the function {value.__name__}; call it: {value.__name__}(...)")
    raise ScheduleError(f"expected a step, such as tile(m=64), not {shown(value)}")


def from_json(data: dict[str, Any]) -> Transform:
    """The step that `to_json` described; ScheduleError for an unknown one."""
    if not isinstance(data, dict):
        raise ScheduleError(f"a recorded step is a dict such as {{'step': 'split', ...}}, not {shown(data)}")
    arguments = {key: _frozen(value) for key, value in data.items()}
    name = arguments.pop("step", "")
    name = next((new for (old, argument), new in FORMERLY.items() if name == old and argument in arguments), name)
    if not isinstance(name, str) or name not in (*_COMPOSED, *Transform.known):
        from workbench.schedules.foreign_names import unknown_step

        raise ScheduleError(unknown_step(name, sorted(Transform.known)))
    if name in _COMPOSED:
        parts = arguments.get("steps")
        if not isinstance(parts, tuple):
            raise ScheduleError(f"recorded step {name!r} needs a list of steps, not {shown(parts)}")
        return _COMPOSED[name](tuple(from_json(part) for part in parts))
    _require_fitting(name, arguments)
    try:
        return Transform.known[name].from_arguments(arguments)
    except (KeyError, TypeError, ValueError) as error:
        raise _unfitting(name, arguments) from error


def _require_fitting(name: str, arguments: Mapping[str, Any]) -> None:
    """ScheduleError for arguments that are not there, and for values that are not what a field holds."""
    from workbench.schedules.field_types import fits, type_text  # for records that are read

    hints = _hints(Transform.known[name])
    if not {*arguments} <= {*hints}:
        raise _unfitting(name, arguments)
    for field, value in arguments.items():
        if not fits(value, hints[field]):
            expected = type_text(hints[field])
            raise ScheduleError(f"recorded step {name!r}: {field} must be {expected}, not {shown(value)}")


def _unfitting(name: str, arguments: Mapping[str, Any]) -> ScheduleError:
    expected = ", ".join(_hints(Transform.known[name]))
    return ScheduleError(f"recorded step {name!r} has the arguments {shown(dict(arguments))}; expected {expected}")


@cache
def _hints(kind: type[Transform]) -> dict[str, Any]:
    """The types of a step's fields."""
    hints = get_type_hints(kind)
    return {f.name: hints[f.name] for f in fields(kind)}  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return str(value) if isinstance(value, str) else value


def _frozen(value: Any) -> Any:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value


FORMERLY = {("interchange", "order"): "reorder"}
"""(the name of a step in old records, an argument that it had then) → what the step is called now."""

_COMPOSED = {kind.composed: kind for kind in (Recipe, Together)}
