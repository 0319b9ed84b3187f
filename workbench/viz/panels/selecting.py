"""The selection of a panel: what is lit, as a plain dict that front ends and Python both set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.errors import WorkbenchError, shown, unknown_name
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree, loops

KEYS = ("statement", "instance", "loop", "line", "array", "cell")


def checked_selection(value: Any, program: Program, tree: Tree, lines: int) -> dict[str, Any]:
    """The selection in its plain form; WorkbenchError that says what is wrong.

    Keys, all optional: `statement` (a name) with `instance` (its coordinates, by order of the dims or by name), `loop`
    (a name), `line` (of the code, counted from 1), `array` (a name) with `cell` (its subscripts).
    """
    if not isinstance(value, Mapping):
        raise WorkbenchError(f"a selection is a dict such as {{'statement': 'C'}}, not {shown(value)}")
    found = {key: value[key] for key in value if value[key] is not None}
    for key in found:
        if key not in KEYS:
            raise WorkbenchError(f"a selection: {unknown_name('key', str(key), KEYS)}")
    _known(found, "statement", [s.name for s in program.statements])
    _known(found, "loop", [loop.name for loop in loops(tree)])
    _known(found, "array", list(program.arrays))
    if "line" in found and not (isinstance(found["line"], int) and 1 <= found["line"] <= lines):
        raise WorkbenchError(f"a selection: the code has lines 1 to {lines}, not {shown(found['line'])}")
    if "instance" in found:
        found["instance"] = _coordinates(found, program)
    if "cell" in found:
        found["cell"] = _integers(found["cell"], "cell")
    return found


def _known(found: dict[str, Any], key: str, names: list[str]) -> None:
    if key in found and found[key] not in names:
        raise WorkbenchError(f"a selection: {unknown_name(key, str(found[key]), list(dict.fromkeys(names)))}")


def _coordinates(found: dict[str, Any], program: Program) -> list[int]:
    if "statement" not in found:
        raise WorkbenchError("a selection with an instance must name its statement")
    own = next(s for s in program.statements if s.name == found["statement"])
    given = found["instance"]
    if isinstance(given, Mapping):
        if set(given) != set(own.dims):
            raise WorkbenchError(
                f"a selection: {own.name} has the dims {', '.join(own.dims)}, not {shown(dict(given))}"
            )
        given = [given[d] for d in own.dims]
    values = _integers(given, "instance")
    if len(values) != len(own.dims):
        raise WorkbenchError(f"a selection: {own.name} has {len(own.dims)} dims ({', '.join(own.dims)}), not {values}")
    return values


def _integers(value: Any, key: str) -> list[int]:
    values: list[Any] = list(value) if hasattr(value, "__iter__") and not isinstance(value, str | bytes) else [None]
    if not all(isinstance(v, int) for v in values):
        raise WorkbenchError(f"a selection: {key} is a tuple of integers, not {shown(value)}")
    return values
