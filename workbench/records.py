"""Records: the dataclasses that everything here is made of, nearly all frozen, decorated at a fifth of the usual cost.

`dataclasses.dataclass(frozen=True)` compiles six methods a class, about a millisecond; with two hundred classes
between `import workbench` and the first kernel that was a quarter of the start.  A record is a dataclass (`fields`,
`replace`, `match` and `is_dataclass` work) whose methods are closures; only an unusual `__init__` is compiled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from functools import cache
from operator import attrgetter
from types import FunctionType
from typing import Any, TypeVar, dataclass_transform, overload

C = TypeVar("C", bound=type)


class _Made:
    """The default of a field that a factory makes, as signatures show it."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE = _Made()


class Hashed:
    """A base of records that are asked for their hash all the time, and remember it: expressions, trees."""

    __slots__ = ("_hash",)


@overload
def record(cls: C, /) -> C: ...
@overload
def record(*, slots: bool = False, eq: bool = True, repr: bool = True, frozen: bool = True) -> Callable[[C], C]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(
    cls: type | None = None, /, *, slots: bool = False, eq: bool = True, repr: bool = True, frozen: bool = True
) -> Any:
    """A class of frozen values with the annotated fields: `@record`, or `@record(slots=True)` and the like.

    `eq=False` keeps identity for `==` and `hash`; `repr=False` keeps the `repr` that the class inherits.  With
    `frozen=False` fields may be assigned, and values that are compared have no hash: what one pass fills in.
    """

    def made(given: type) -> Any:
        own = dict(vars(given))
        if given.__doc__ is None:  # else `dataclass` asks `inspect` for a signature, which may take milliseconds
            given.__doc__ = f"{given.__name__}({', '.join(own.get('__annotations__', ()))})"
        result: Any = dataclass(init=False, repr=False, eq=False, slots=slots)(given)
        for name, method in _methods(result, eq=eq, repr=repr, frozen=frozen).items():
            if own.get(name) is None:
                setattr(result, name, method)
        return result

    return made if cls is None else made(cls)


def _methods(cls: type, *, eq: bool, repr: bool, frozen: bool) -> dict[str, Any]:
    """What the class does not write itself, by name."""
    every = fields(cls)
    methods: dict[str, Any] = {"__init__": _initializer(cls)}
    if frozen:
        methods |= {"__setattr__": _set, "__delattr__": _delete}
    if "__slots__" in vars(cls) or issubclass(cls, Hashed):  # a hash means nothing to another process
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    if repr:
        methods["__repr__"] = _representation(tuple(each.name for each in every if each.repr))
    if eq:
        compared = _values(tuple(each.name for each in every if each.compare))
        hashed = _remembered(compared) if issubclass(cls, Hashed) else lambda self: hash(compared(self))
        methods |= {"__eq__": _equality(compared), "__hash__": hashed if frozen else None}
    return methods


def _initializer(cls: type) -> Callable[..., None]:
    """`__init__` with one parameter a field, in order; calls `__post_init__` if there is one."""
    every, after = fields(cls), hasattr(cls, "__post_init__")
    ordinary = all(each.init and each.default_factory is MISSING for each in every)
    made = _assigning(every, after) if ordinary else _written(every, after)
    module = sys.modules.get(cls.__module__)
    # Names of the class's own module stay visible, so that annotations can be read back.
    scope = vars(module) if module else {}
    made = FunctionType(made.__code__, scope, "__init__", made.__defaults__, made.__closure__)
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__module__ = cls.__module__
    made.__annotations__ = {each.name: each.type for each in every if each.init} | {"return": None}
    return made


def _assigning(every: tuple[Field[Any], ...], after: bool) -> FunctionType:
    """Fields that are parameters and no more: the text for that many, compiled once, with their names put in."""
    names = tuple(each.name for each in every)
    made = _maker(len(names), after)(object.__setattr__, *names)
    made.__code__ = made.__code__.replace(co_varnames=("self", *names))
    optional = [each.default is not MISSING for each in every]
    if sorted(optional) != optional:
        raise TypeError(f"a field without a default follows one that has one, among {', '.join(names)}")
    made.__defaults__ = tuple(each.default for each in every if each.default is not MISSING)
    return made


@cache
def _maker(count: int, after: bool) -> Callable[..., FunctionType]:
    keys, values = [f"_key_{i}" for i in range(count)], [f"value_{i}" for i in range(count)]
    lines = [f" _set(self, {key}, {value})" for key, value in zip(keys, values, strict=True)]
    return _compiled(["_set", *keys], ["self", *values], lines, after)


def _written(every: tuple[Field[Any], ...], after: bool) -> FunctionType:
    """Some fields are made by a factory or are no parameters: a text of its own."""
    scope: dict[str, Any] = {"_set": object.__setattr__, "_made": _MADE}
    parameters, lines = ["self"], []
    for each in every:
        parameter, line = _assignment(each, scope)
        parameters += [parameter] if each.init else []
        lines += [line] if line else []
    return _compiled(list(scope), parameters, lines, after)(**scope)


def _compiled(scope: list[str], parameters: list[str], lines: list[str], after: bool) -> Callable[..., FunctionType]:
    lines = lines + [" self.__post_init__()"] * after
    body = "".join(f"\n {line}" for line in lines or [" pass"])
    found: dict[str, Any] = {}
    exec(f"def _maker({', '.join(scope)}):\n def __init__({', '.join(parameters)}):{body}\n return __init__", {}, found)
    return found["_maker"]


def _assignment(each: Field[Any], scope: dict[str, Any]) -> tuple[str, str]:
    """The parameter of a field and the line that keeps it; values that text cannot say go into the scope."""
    name, default = each.name, f"_default_{each.name}"
    if each.default_factory is not MISSING:
        scope[default] = each.default_factory
        value = f"{default}() if {name} is _made else {name}" if each.init else f"{default}()"
        return f"{name}=_made", f" _set(self, {name!r}, {value})"
    if not each.init:
        return "", ""
    if each.default is not MISSING:
        scope[default] = each.default
        return f"{name}={default}", f" _set(self, {name!r}, {name})"
    return name, f" _set(self, {name!r}, {name})"


def _values(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    match names:
        case ():
            return lambda self: ()
        case (name,):
            return lambda self: (getattr(self, name),)
        case _:
            return attrgetter(*names)


def _equality(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, Any], Any]:
    def __eq__(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _remembered(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        try:
            return self._hash
        except AttributeError:
            found = hash(values(self))
            object.__setattr__(self, "_hash", found)
            return found

    return __hash__


def _representation(names: tuple[str, ...]) -> Callable[[Any], str]:
    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
