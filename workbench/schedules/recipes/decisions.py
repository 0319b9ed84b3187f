"""Decisions of recipes: each has a name, a default, and other options that a tuner or a slider may choose.

A recipe says `decide("C_tile_rows", 6, (1, 2, 4, 6, 8))` where it takes a decision.  Nobody asks otherwise: it gets 6.
Inside `deciding({"C_tile_rows": 4})` it gets 4, and what it asked is remembered, with its options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

MOST_OPTIONS = 16


class Deciding:
    """What was chosen, and what a recipe asked: decision → its options, the default first.

    `opening` are those whose options may lead to other questions.
    """

    def __init__(self, chosen: Mapping[str, Any]) -> None:
        self.chosen = chosen
        self.asked: dict[str, tuple[Any, ...]] = {}
        self.opening: set[str] = set()

    def decide(self, name: str, default: Any, options: Iterable[Any], *, opens: bool) -> Any:
        """The option that was chosen; where it is none of these, the nearest number, else the default."""
        known = tuple(dict.fromkeys((default, *options)))[:MOST_OPTIONS]
        self.asked.setdefault(name, known)
        if opens:
            self.opening.add(name)
        wanted = self.chosen.get(name, default)
        if any(type(o) is type(wanted) and o == wanted for o in known):
            return wanted
        numbers = [o for o in known if isinstance(o, int) and not isinstance(o, bool)]
        if isinstance(wanted, int) and numbers and len(numbers) == len(known):
            return min(numbers, key=lambda o: abs(o - wanted))
        return default


_DECIDING: ContextVar[Deciding | None] = ContextVar("workbench_deciding", default=None)


def decide(
    name: str, default: T, options: Iterable[T] | Callable[[], Iterable[T]], *, opens: bool = False
) -> T:
    """The default, or what was chosen instead; `opens` says that other questions depend on the answer."""
    asked = _DECIDING.get()
    if asked is None:
        return default
    return asked.decide(word(name), default, options() if callable(options) else options, opens=opens)


def asked() -> bool:
    """Whether somebody listens to what is decided: options that take time to find are looked for only then."""
    return listener() is not None


def listener() -> Deciding | None:
    """Who listens to what is decided; None where nobody does."""
    return _DECIDING.get()


@contextmanager
def listening(made: Deciding | None) -> Iterator[None]:
    """Recipes called inside ask this one."""
    token = _DECIDING.set(made)
    try:
        yield
    finally:
        _DECIDING.reset(token)


@contextmanager
def deciding(chosen: Mapping[str, Any]) -> Iterator[Deciding]:
    """Recipes called inside decide as it was chosen."""
    made = Deciding(chosen)
    with listening(made):
        yield made


@contextmanager
def undecided() -> Iterator[None]:
    """Inside, every decision takes its default, and none is noted."""
    with listening(None):
        yield


def word(name: str) -> str:
    """A name that can be a keyword: `C.init/m` is `C_init_m`.

    >>> word("C.init/m")
    'C_init_m'
    """
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name)


def sizes_near(default: int, most: int, *, unit: int = 1, zero: bool = False) -> tuple[int, ...]:
    """Sizes to choose from: powers of two and one and a half times them, in multiples of a unit, up to `most`.

    >>> sizes_near(48, 128, unit=16)
    (16, 32, 48, 64, 96, 128)
    """
    found = {default, *((0,) if zero else ())}
    size = unit
    while size <= most:
        found |= {size, size * 3 // 2 // unit * unit}
        size *= 2
    return tuple(sorted(s for s in found if 0 < s <= max(most, default) or (zero and s == 0)))
