"""Types of the fields of steps: whether plain data are of one, and what one is called."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

PLAIN = {str: "text", int: "a number", bool: "true or false", NoneType: "nothing"}


def fits(value: Any, hint: Any) -> bool:
    """Whether plain data are of a type; types that are not plain data are not looked at.

    >>> fits((("m", 4),), tuple[tuple[str, int], ...]), fits(True, int), fits(None, int | None)
    (True, False, True)
    """
    parts = get_args(hint)
    match get_origin(hint) or hint:
        case origin if origin in (Union, UnionType):
            return any(fits(value, part) for part in parts)
        case origin if origin is Literal:
            return any(value == part and type(value) is type(part) for part in parts)
        case origin if origin is tuple:
            wanted = parts[:1] * len(value) if isinstance(value, tuple) and parts[-1] is Ellipsis else parts
            return isinstance(value, tuple) and len(value) == len(wanted) and all(map(fits, value, wanted))
        case origin if origin is str:
            return isinstance(value, str)
        case origin if origin in PLAIN:
            return type(value) is origin
    return True


def type_text(hint: Any) -> str:
    """A type in words."""
    parts = get_args(hint)
    match get_origin(hint) or hint:
        case origin if origin in (Union, UnionType):
            return " or ".join(map(type_text, parts))
        case origin if origin is Literal:
            return " or ".join(map(repr, parts))
        case origin if origin is tuple and parts[-1] is Ellipsis:
            return f"a list, each of it {type_text(parts[0])}"
        case origin if origin is tuple:
            return f"a list of {len(parts)} ({', '.join(map(type_text, parts))})"
    return PLAIN.get(hint, str(hint))
