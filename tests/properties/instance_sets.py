"""The instances of a statement from the text of its domain, enumerated without isl.

Each piece of the text becomes nested loops: a variable is bounded by the affine conditions on it and on variables
further outside, and every condition stands as far outside as its variables allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from tests.properties.set_text import Piece, Test, read_set, variable

FAR = 40  # no instance of a small program lies so far out

Point = tuple[int, ...]
Enumerator = Callable[[Mapping[str, int]], Iterator[Point]]


@lru_cache(maxsize=4096)
def points(text: str, sizes: tuple[tuple[str, int], ...]) -> tuple[Point, ...]:
    """Every instance at some sizes, in lexicographic order."""
    named = {variable(spelt): value for name, value in sizes for spelt in (name, f"{name}_")}  # c0 is isl's own
    return tuple(sorted({point for piece in pieces(text) for point in piece(named)}))


@lru_cache(maxsize=4096)
def pieces(text: str) -> tuple[Enumerator, ...]:
    """An enumerator for each piece of the text."""
    return tuple(_enumerator(names, piece) for names, piece in read_set(text))


def _enumerator(names: tuple[str, ...], piece: Piece) -> Enumerator:
    given = dict(piece.given)
    waiting = [*names, *given]
    needed = set().union(*(t.needs for t in piece.tests), *(t.needs for t in given.values() if t is not None))
    known = needed - set(waiting)
    bounds = [bound for test in piece.tests for bound in _bounds(test)]
    lines, indent = [f"    {name} = sizes[{name!r}]" for name in sorted(known)], "    "
    tests = list(piece.tests)
    while True:
        for test in [t for t in tests if t.needs <= known]:
            tests.remove(test)
            lines.append(f"{indent}if {test.source}:")
            indent += "    "
        if not waiting:
            break
        name, values = _next(waiting, known, bounds, given)
        waiting.remove(name)
        known.add(name)
        lines.append(f"{indent}for {name} in {values}:")
        indent += "    "
    point = "".join(name + "," for name in names)
    lines.append(f"{indent}assert all(abs(x) < {FAR} for x in ({point})), 'an instance far out'")
    lines.append(f"{indent}yield ({point})")
    space: dict[str, Any] = {}
    exec("\n".join(["def found(sizes):", *lines]), space)
    return space["found"]


Bound = tuple[str, int, frozenset[str], str]  # variable, coefficient, the others, their sum: coefficient*x + sum >= 0


def _next(
    waiting: list[str], known: set[str], bounds: list[Bound], given: Mapping[str, Test | None]
) -> tuple[str, str]:
    """The variable to enumerate next, the best bounded one, and the values it may take."""
    best = (-1, "", "")
    for name in waiting:
        value = given.get(name)
        if value is not None:
            if value.needs <= known:
                return name, f"({value.source},)"
            continue
        own = [b for b in bounds if b[0] == name and b[2] <= known]
        low = [f"-(({rest}) // {c})" for _, c, _, rest in own if c > 0]
        high = [f"({rest}) // {-c}" for _, c, _, rest in own if c < 0]
        values = f"range(max(({', '.join([f'{-FAR}', *low])},)), min(({', '.join([f'{FAR}', *high])},)) + 1)"
        rank = bool(low) + bool(high)
        if rank > best[0]:
            best = (rank, name, values)
    return best[1], best[2]


def _bounds(test: Test) -> Iterator[Bound]:
    """What an affine comparison says of each of its variables."""
    if test.sides is None or "//" in test.source or "%" in test.source or test.sides[1] == "!=":
        return
    left, sign, right = test.sides
    forms = {
        "<=": [f"({right}) - ({left})"],
        "<": [f"({right}) - ({left}) - 1"],
        ">=": [f"({left}) - ({right})"],
        ">": [f"({left}) - ({right}) - 1"],
        "==": [f"({right}) - ({left})", f"({left}) - ({right})"],
    }[sign]
    for form in forms:
        constant, factors = _affine(form, sorted(test.needs))
        for name, factor in factors.items():
            others = {n: c for n, c in factors.items() if n != name and c}
            if factor:
                rest = " + ".join([str(constant), *(f"{c}*{n}" for n, c in sorted(others.items()))])
                yield name, factor, frozenset(others), rest


def _affine(form: str, names: list[str]) -> tuple[int, dict[str, int]]:
    """Constant and coefficients of an affine expression, from its values."""
    at = eval(f"lambda {', '.join(names)}: {form}")
    constant = at(*[0] * len(names))
    return constant, {name: at(*(int(other == name) for other in names)) - constant for name in names}
