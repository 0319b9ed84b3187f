"""The element types of an operator's tensors in words: with its type variables, where it has some."""

from __future__ import annotations

from functools import lru_cache

from workbench.errors import OperatorError
from workbench.lang.binding.arrays import type_variables_of
from workbench.lang.dtypes import FLOAT16, FLOAT32, FLOAT64, INT8, INT32, INT64, DType
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import type_name
from workbench.lang.resolve.generics import instantiate
from workbench.lang.scopes.type_variables import CLASSES
from workbench.lang.syntax.parser import parse

PROBES = (FLOAT32, FLOAT64, INT32, INT64, FLOAT16, INT8)
"""Where a tensor's type is asked for: what holds for these holds for their kinds, 16-bit floats and narrow integers."""
PAIRS = ((FLOAT32, FLOAT64), (INT32, INT64), (INT32, FLOAT32), (FLOAT32, INT32))

Seen = tuple[dict[str, DType], Operator]


def element_words(op: Operator) -> dict[str, str]:
    """The type of each tensor: a type, a type variable, or a variable with the types for which it is another one.

    >>> from workbench.lang import operator
    >>> element_words(operator("def f<T>(T(N) x, int32(N) i) -> (s, y) { s +=! x(i(n))   y(n) = exp(x(n)) }"))
    {'x': 'T', 'i': 'int32', 's': 'T (float16: float)', 'y': 'T (integers, float16: float)'}
    """
    if not op.generic:
        return {name: type_name(tensor.dtype) for name, tensor in op.tensors.items()}
    known, seen = type_variables_of(op), _seen(op)
    return {name: known.get(name) or _word(op, name, seen) for name in op.tensors}


def variable_words(op: Operator) -> dict[str, str]:
    """What each type variable may stand for: a class of types, or any of them.

    >>> from workbench.lang import operator
    >>> variable_words(operator("def f<T: floats, U>(T(N) x, U(N) y) -> (z) { z(i) = x(i) }"))
    {'T': 'floats', 'U': 'any type'}
    """
    return {name: kind or "any type" for name, kind in _kinds(op).items()}


def _kinds(op: Operator) -> dict[str, str | None]:
    if not op.generic:
        return {}
    define = next(each for each in parse(op.text).defs() if each.name.name == op.name)
    return {generic.name: generic.kind.name if generic.kind else None for generic in define.generics}


@lru_cache(maxsize=256)
def _seen(op: Operator) -> tuple[Seen, ...]:
    """The operator with all its variables at one type, then each at a wider one than the rest."""
    allowed = {name: CLASSES[kind] if kind else PROBES for name, kind in _kinds(op).items()}
    alike = [dict.fromkeys(allowed, of) for of in PROBES]
    mixed = [{name: both[name == odd] for name in allowed} for odd in allowed for both in PAIRS if len(allowed) > 1]
    asked = [types for types in (*alike, *mixed) if all(of in allowed[name] for name, of in types.items())]
    return tuple((types, made) for types in asked if (made := _instance(op, types)))


def _instance(op: Operator, types: dict[str, DType]) -> Operator | None:
    try:
        return instantiate(op, types)
    except OperatorError:
        return None


def _word(op: Operator, name: str, seen: tuple[Seen, ...]) -> str:
    found = [(types, made.tensors[name].dtype) for types, made in seen]
    if len({of for _, of in found}) == 1:
        return type_name(found[0][1])
    for variable in op.generic:
        others = [(types, of) for types, of in found if of != types[variable]]
        alike = all(len(set(types.values())) == 1 for types, _ in others)
        if alike and len(found) - len(others) >= 2:
            return variable + _exceptions({types[variable]: of for types, of in others})
    return f"of {', '.join(op.generic)}"


def _exceptions(others: dict[DType, DType]) -> str:
    """` (float16: float)`: at which types of its variable a tensor has another one."""
    results: dict[DType, list[DType]] = {}
    for given, of in others.items():
        results.setdefault(of, []).append(given)
    parts = [f"{', '.join(_kinds_of(given))}: {type_name(of)}" for of, given in results.items()]
    return f" ({'; '.join(parts)})" if parts else ""


def _kinds_of(given: list[DType]) -> list[str]:
    integers, floats = ([type_name(of) for of in given if of.is_float == wanted] for wanted in (False, True))
    return [*(["integers"] if len(integers) > 1 else integers), *floats]
