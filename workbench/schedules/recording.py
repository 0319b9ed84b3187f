"""Schedules as text that outlives the session: JSON with a version and a fingerprint, and a Python script."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench import poly
from workbench.errors import ScheduleError, WorkbenchError, shown
from workbench.lang.expr import Const
from workbench.lang.operator import Operator
from workbench.poly.programs.program import Program

if TYPE_CHECKING:
    from workbench.schedules.scheduled_program import Schedule

FORMAT = 1
LONGEST = 10_000_000


def write_record(schedule: Schedule) -> str:
    """The schedule as JSON."""
    start = schedule.program.original
    record: dict[str, Any] = {
        "workbench": FORMAT,
        "operator": start.name,
        "fingerprint": fingerprint(start.operator),
        "sizes": start.sizes,
    }
    strides = _strides(start)
    if strides:
        record["strides"] = strides
    if not schedule.verdict:
        record["preview"] = True
    return json.dumps({**record, "steps": [step.to_json() for step in schedule.trace]})


def fingerprint(text: str) -> str:
    """A short hash of an operator's text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _strides(program: Program) -> dict[str, list[int]]:
    """The layouts that are not the usual ones."""
    if program.definition is None:
        return {}
    usual = poly.lower(program.definition, program.sizes).arrays
    odd = {name: a.strides for name, a in program.arrays.items() if name in usual and a.strides != usual[name].strides}
    return {name: [int(s.value) for s in own if isinstance(s, Const)] for name, own in odd.items()}


def read_record(operator: Operator | Program, text: str) -> tuple[Program, list[Any], bool]:
    """(program, recorded steps, whether it was a preview) of what `write_record` wrote for this operator."""
    record = _record(text)
    _require_version(record)
    _require_operator(operator, record)
    sizes = _integers(record, "sizes")
    strides = record.get("strides") or {}
    steps = record.get("steps")
    if not isinstance(steps, list) or not isinstance(strides, dict):
        raise ScheduleError("from_json: the record is damaged: no list of steps")
    if isinstance(operator, Program):
        if operator.sizes != sizes:
            raise ScheduleError(f"from_json: recorded for the sizes {_sizes(sizes)}, not {_sizes(operator.sizes)}")
        return operator, steps, bool(record.get("preview"))
    try:
        program = poly.lower(operator, sizes, {name: tuple(own) for name, own in strides.items()})
    except (TypeError, ValueError, KeyError, WorkbenchError) as error:
        raise ScheduleError(f"from_json: the recorded sizes or strides do not fit {operator.name}: {error}") from error
    return program, steps, bool(record.get("preview"))


def _record(text: Any) -> dict[str, Any]:
    if not isinstance(text, str | bytes):
        raise ScheduleError(f"from_json reads the text that to_json wrote, not {shown(text)}")
    if len(text) > LONGEST:
        raise ScheduleError(f"from_json: the text has {len(text)} characters; at most {LONGEST} are read")
    try:
        record = json.loads(text)
    except RecursionError as error:
        raise ScheduleError("from_json: the record is damaged; its brackets nest too deeply") from error
    except ValueError as error:
        raise ScheduleError(f"from_json: the record is damaged; it is not JSON: {error}") from error
    if not isinstance(record, dict) or "workbench" not in record:
        expected = '{"workbench": 1, "operator": ..., "steps": [...]}'
        raise ScheduleError(f"from_json: not the record of a schedule; expected {expected}, found {shown(record)}")
    return record


def _require_version(record: dict[str, Any]) -> None:
    version = record["workbench"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ScheduleError(f"from_json: the record is damaged: its format is {shown(version)}, not a number from 1")
    if version > FORMAT:
        raise ScheduleError(
            f"from_json: the record has format {version}; this version of the workbench reads formats up to {FORMAT}. "
            "Update the workbench, or write the record again with this version"
        )


def _require_operator(operator: Any, record: dict[str, Any]) -> None:
    if not isinstance(operator, Operator | Program):
        raise ScheduleError(f"from_json takes the operator first, then the text; found {shown(operator)}")
    text = operator.text if isinstance(operator, Operator) else operator.original.operator
    found, expected = record.get("fingerprint"), fingerprint(text)
    if found == expected:
        return
    name = record.get("operator")
    if name == operator.name:
        raise ScheduleError(
            f"from_json: recorded for another {name!r} (fingerprint {shown(found)}, this operator has {expected!r}): "
            "its text has changed since. Schedule it anew, or replay the steps: wb.replay(wb.schedule(op), text)"
        )
    raise ScheduleError(f"from_json: recorded for operator {shown(name)}, not for {operator.name!r}")


def _integers(record: dict[str, Any], key: str) -> dict[str, int]:
    found = record.get(key)
    if not isinstance(found, Mapping) or any(not isinstance(v, int) or isinstance(v, bool) for v in found.values()):
        raise ScheduleError(f"from_json: the record is damaged: {key} must be numbers, not {shown(found)}")
    return dict(found)


def _sizes(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sizes.items()) or "none"


def write_script(schedule: Schedule) -> str:
    """Python that builds the schedule from nothing but the workbench."""
    return "\n".join(["import workbench as wb", "", *_source(schedule.program.original), *_applied(schedule)]) + "\n"


def _source(start: Program) -> list[str]:
    """The lines that make `naive`."""
    text, strides = _quoted(start.operator), _strides(start)
    sizes = f", sizes={start.sizes!r}" if start.sizes else ""
    if start.definition is not None and start.definition.language == "c":
        return [f'naive = wb.schedule(wb.from_c("""{text}"""{sizes}))']
    made = f"operator{sizes}"
    if strides:
        made = f"wb.poly.lower(operator, {start.sizes!r}, strides={strides!r})"
    return ['operator = wb.operator("""', *text.strip("\n").split("\n"), '""")', f"naive = wb.schedule({made})"]


def _quoted(text: str) -> str:
    """The text as it stands between triple quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _applied(schedule: Schedule) -> list[str]:
    """The steps as `naive | step | ...`; where some order between them is not legal, together or as a preview."""
    steps = [f"wb.{step.python()}" for step in schedule.trace]
    if not steps:
        return ["schedule = naive"]
    after, plain = schedule.start, True
    for step in schedule.trace:
        after = step.apply(after)
        plain = plain and bool(after.verdict)
    if plain:
        return ["schedule = (", "    naive", *(f"    | {step}" for step in steps), ")"]
    listed = [f"        {step}," for step in steps]
    if schedule.verdict:
        return ["schedule = naive | wb.together(", *(line[4:] for line in listed), ")"]
    return ["schedule = wb.preview(", "    naive,", "    wb.together(", *listed, "    ),", ")"]
