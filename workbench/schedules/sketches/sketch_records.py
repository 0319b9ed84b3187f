"""Sketches as text that outlives the session: JSON in which nothing is ever executed, and a Python script."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from workbench import schedules
from workbench.errors import ScheduleError, shown, unknown_name
from workbench.lang.operator import Operator
from workbench.poly.programs.program import Program
from workbench.schedules.choices import FUNCTIONS, Alternative, Choice, Open, python_of
from workbench.schedules.foreign_names import unknown_step
from workbench.schedules.recording import write_record, write_script
from workbench.schedules.transform import Recipe, Transform, from_json, together

if TYPE_CHECKING:
    from workbench.schedules.scheduled_program import Schedule
    from workbench.schedules.sketches.sketch import Sketch

FORMAT = 2
LONGEST = 10_000_000

FORMERLY = {"interchange": "reorder"}
"""What functions of steps were called in format 1."""


def write_sketch(sketch: Sketch) -> str:
    """The sketch as JSON."""
    conditions = _conditions(sketch, "to_json")
    return json.dumps({
        "sketch": FORMAT,
        "schedule": json.loads(write_record(sketch.schedule)),
        "decisions": [{"name": d.name, "options": [_written(o) for o in d.options]} for d in sketch.space.decisions],
        "steps": [_written(step) for step in sketch.steps],
        "where": conditions,
    })  # fmt: skip


def _conditions(sketch: Sketch, what: str) -> list[str]:
    """The texts of the constraints; ScheduleError for one that is a function."""
    for one in sketch.space.constraints:
        if one.function is not None:
            raise ScheduleError(f'{what}: the constraint {one} is a function; give it as text, "tile_m <= 64"')
    return [one.text for one in sketch.space.constraints]


def _written(value: Any) -> Any:
    match value:
        case Choice(_, name):
            return {"choose": name}
        case Open(function, arguments, keywords):
            named = {name: _written(inside) for name, inside in keywords}
            return {"open": function, "arguments": [_written(a) for a in arguments], "keywords": named}
        case Alternative(choice):
            return {"one of": choice.name}
        case Recipe(parts) if value.leaves_open:
            return {"together": [_written(part) for part in parts]}
        case Transform():
            return value.to_json()
        case Mapping():
            return {"mapping": [[key, _written(inside)] for key, inside in value.items()]}
        case tuple() | list():
            return [_written(inside) for inside in value]
        case None | bool() | int() | float() | str():
            return value
    raise ScheduleError(f"to_json: the option {shown(value)} is no plain value (numbers, texts, tuples, steps)")


def read_sketch(operator: Operator | Program, text: str) -> tuple[Schedule, Iterator[Transform], list[str]]:
    """What `write_sketch` wrote: the schedule, the steps after it as they are asked for, the texts of constraints."""
    record = _record(text)
    schedule = schedules.Schedule.from_json(operator, json.dumps(record["schedule"]))
    len(Transform.known)  # loads the functions
    decisions = {d["name"]: d["options"] for d in record["decisions"]}
    reader = _Reader(decisions, FORMERLY if record["sketch"] == 1 else {})
    predicates = [predicate if isinstance(predicate, str) else "" for predicate in record["where"]]
    return schedule, map(reader.step, record["steps"]), predicates


def _record(text: Any) -> dict[str, Any]:
    if not isinstance(text, str | bytes) or len(text) > LONGEST:
        raise ScheduleError(f"from_json reads the text that to_json wrote, not {shown(text)}")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScheduleError(f"from_json: the text is no record of a sketch: {error}") from error
    if not isinstance(record, dict) or record.get("sketch") not in range(1, FORMAT + 1):
        version = record.get("sketch") if isinstance(record, dict) else None
        newer = f"version {version} is newer than this workbench knows ({FORMAT})"
        newer = newer if isinstance(version, int) else "no sketch"
        raise ScheduleError(f"from_json: {newer}: {shown(text[:80])}")
    lists = [record.get(key) for key in ("decisions", "steps", "where")]
    if not all(isinstance(part, list) for part in lists) or not isinstance(record.get("schedule"), dict):
        raise ScheduleError("from_json: the record is damaged: expected schedule, decisions, steps and where")
    if not all(_is_decision(d) for d in record["decisions"]):
        raise ScheduleError("from_json: the record is damaged: a decision has a name and a list of options")
    return record


def _is_decision(data: Any) -> bool:
    named = isinstance(data, dict) and isinstance(data.get("name"), str) and data["name"].isidentifier()
    return named and isinstance(data.get("options"), list) and bool(data["options"])


class _Reader:
    """Makes values again; every mention of a decision is one choice."""

    def __init__(self, decisions: Mapping[str, list[Any]], renamed: Mapping[str, str]) -> None:
        self.decisions, self.renamed = decisions, renamed
        self.made: dict[str, Choice] = {}

    def choice(self, name: Any) -> Choice:
        if not isinstance(name, str) or name not in self.decisions:
            raise ScheduleError(f"from_json: {unknown_name('decision', str(name), list(self.decisions))}")
        if name not in self.made:
            self.made[name] = Choice((), name)
            options = [self.step(o) if isinstance(o, dict) else self.value(o) for o in self.decisions[name]]
            self.made[name] = Choice(tuple(options), name)
        elif not self.made[name].options:
            raise ScheduleError(f"from_json: the record is damaged: the decision {name!r} stands in its own options")
        return self.made[name]

    def step(self, data: Any) -> Transform:
        match data:
            case {"open": str(function), "arguments": list(arguments), "keywords": dict(keywords)}:
                if function not in FUNCTIONS:
                    raise ScheduleError(f"from_json: {unknown_step(function, sorted(FUNCTIONS))}")
                function, given = self.renamed.get(function, function), [self.value(a) for a in arguments]
                return self._call(function, given, {k: self.value(v) for k, v in keywords.items()})
            case {"one of": name}:
                return Alternative(self.choice(name))
            case {"together": list(steps)}:
                return together(*map(self.step, steps))
        return from_json(data)

    def value(self, data: Any) -> Any:
        match data:
            case {"choose": name}:
                return self.choice(name)
            case {"mapping": list(pairs)} if all(isinstance(p, list) and len(p) == 2 for p in pairs):
                return {str(key): self.value(inside) for key, inside in pairs}
            case list():
                return tuple(self.value(inside) for inside in data)
            case None | bool() | int() | float() | str():
                return data
        raise ScheduleError(f"from_json: the record is damaged: {shown(data)} is no argument of a step")

    @staticmethod
    def _call(function: str, given: list[Any], named: dict[str, Any]) -> Transform:
        make: Callable[..., Transform] = FUNCTIONS[function]
        try:
            return make(*given, **named)
        except (TypeError, ValueError, AttributeError) as error:
            raise ScheduleError(f"from_json: {function} does not take these arguments: {error}") from error


def sketch_script(sketch: Sketch) -> str:
    """Python that builds the sketch from nothing but the workbench."""
    lines = [write_script(sketch.schedule).rstrip(), "sketch = ("]
    lines += ["    schedule", *(f"    | {python_of(step)}" for step in sketch.steps), ")"]
    lines += [f"sketch = wb.where(sketch, {text!r})" for text in _conditions(sketch, "to_python")]
    return "\n".join(lines) + "\n"
