"""What names mean in a C text: macros, sizes, loop variables, arrays and scalars that hold data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from workbench.fromc.text.types import c_element_type
from workbench.lang.dtypes import DType
from workbench.lang.expr import Expr
from workbench.lang.operator import Range, Tensor
from workbench.records import record


@record
class Known:
    """A name with one integer value: a size, a loop variable, `const int k = ...`."""

    value: Expr
    dtype: DType


@record
class Cells:
    """A name that holds data.  `place` are the loops its declaration stands in: each iteration has its own cells."""

    tensor: str
    dtype: DType
    place: tuple[Expr, ...]
    rank: int


@record
class Ended:
    """A loop variable declared before its loop: it has no value outside."""

    dtype: DType


Meaning = Known | Cells | Ended


@dataclass
class Scope:
    """Names in force, from the outermost block to the innermost.

    `symbols` are the integers that may shape the program, `undeclared` those that a bare nest takes from its arrays'
    extents; `tensors` collects what holds data, under names of its own; `spans` says between what and what loop
    variables and sizes lie, by their expressions; `assigned` the names the text assigns outside the heads of loops,
    `updated` those of them that are given and stay.
    """

    types: dict[str, list[str]]
    symbols: set[str] = field(default_factory=set)
    undeclared: list[str] = field(default_factory=list)
    frames: list[dict[str, Meaning]] = field(default_factory=lambda: [{}])
    tensors: dict[str, Tensor] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    spans: dict[Expr, tuple[int, int]] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)
    updated: set[str] = field(default_factory=set)
    ranges: list[Range] = field(default_factory=list)

    def find(self, name: str) -> Meaning | None:
        """The innermost meaning of a name."""
        return next((frame[name] for frame in reversed(self.frames) if name in frame), None)

    def declare(self, name: str, meaning: Meaning) -> None:
        """Give a name its meaning in the innermost block."""
        self.frames[-1][name] = meaning

    @contextmanager
    def block(self) -> Iterator[None]:
        """A block: what is declared inside ends with it."""
        self.frames.append({})
        try:
            yield
        finally:
            self.frames.pop()

    def fresh(self, name: str) -> str:
        """The name, or with a number where something else bears it."""
        number, found = 2, name
        while found in self.taken:
            found, number = f"{name}_{number}", number + 1
        self.taken.add(found)
        return found

    def known_names(self) -> list[str]:
        """All names, innermost first."""
        return list(dict.fromkeys(name for frame in reversed(self.frames) for name in frame))

    def element(self, node: Any) -> DType | None:
        """The element type of a pycparser IdentifierType."""
        words = getattr(node, "names", None)
        for _ in range(16):
            if words is None or not any(w in self.types for w in words):
                break
            words = [w for word in words for w in self.types.get(word, [word])]
        return None if words is None else c_element_type(words)
