"""Whether the patterns of a `match` cover every value, and a value that they miss (Maranget, JFP 2007)."""

from __future__ import annotations

from workbench.graph.terms.datatypes import Datatypes
from workbench.graph.terms.nodes import Construction, Items, Pattern, Wildcard
from workbench.graph.terms.types import DataType, TupleType, Type
from workbench.records import record

Row = tuple[Pattern, ...]
_ANY = Wildcard()
_MOST_STEPS = 20_000


@record(slots=True)
class _Case:
    """One way in which a value of a type can be made: "" for a tuple."""

    name: str
    fields: tuple[Type, ...]


class _Budget:
    """Counts the steps: deciding this is exponential in the worst case."""

    def __init__(self) -> None:
        self.left = _MOST_STEPS


def missing(patterns: list[Pattern], of: Type, known: Datatypes) -> str | None:
    """A value, written as a pattern, that none of the patterns fits; None if they cover all (or it takes too long)."""
    found = _missing([(pattern,) for pattern in patterns], (of,), known, _Budget())
    return found[0] if found else None


def _missing(rows: list[Row], types: tuple[Type, ...], known: Datatypes, budget: _Budget) -> tuple[str, ...] | None:
    budget.left -= 1
    if budget.left < 0:
        return None
    if not types:
        return None if rows else ()
    heads = {_head(row[0]) for row in rows} - {None}
    if not heads:
        rest = _missing([row[1:] for row in rows], types[1:], known, budget)
        return None if rest is None else ("_", *rest)
    for case in _cases(types[0], known):
        if case.name in heads:
            found = _missing(_specialised(rows, case), (*case.fields, *types[1:]), known, budget)
            if found is not None:
                return (_written(case, found[: len(case.fields)]), *found[len(case.fields) :])
            continue
        rest = _missing([row[1:] for row in rows if _head(row[0]) is None], types[1:], known, budget)
        if rest is not None:
            return (_written(case, ("_",) * len(case.fields)), *rest)
    return None


def _head(pattern: Pattern) -> str | None:
    match pattern:
        case Construction(name, _):
            return name
        case Items():
            return ""
        case _:
            return None


def _specialised(rows: list[Row], case: _Case) -> list[Row]:
    """The rows that fit a value made in this way, with its fields as columns."""
    found: list[Row] = []
    for first, *rest in rows:
        match first:
            case Construction(name, fields) if name == case.name:
                found.append((*fields, *rest))
            case Items(items) if case.name == "":
                found.append((*items, *rest))
            case Construction() | Items():
                pass
            case _:
                found.append((*[_ANY] * len(case.fields), *rest))
    return found


def _cases(of: Type, known: Datatypes) -> list[_Case]:
    match of:
        case TupleType(items):
            return [_Case("", items)]
        case DataType(name, arguments):
            definition = known.types[name]
            return [_Case(v.name, definition.field_types(v, arguments)) for v in definition.variants]
        case _:
            return []


def _written(case: _Case, fields: tuple[str, ...]) -> str:
    if case.name == "":
        return f"({', '.join(fields)}{',' * (len(fields) == 1)})"
    return case.name + (f"({', '.join(fields)})" if fields else "")
