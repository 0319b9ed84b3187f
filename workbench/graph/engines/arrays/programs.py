"""Array programs: what a region computes as instructions over whole arrays, for JSON and any array library.

| instruction | gives |
|---|---|
| `constant(value, dtype)` | a number |
| `range(start, stop)` | the whole numbers between, as int64 |
| `view(a; pads, shape, strides, offset)` | a strided view of `a`, with zeros added around it first |
| `take(a; indices, shape)` | cells of `a` by their places in its flat memory |
| `insert(a; axes)` | `a` with axes of length 1 |
| `expand(a; shape)` | `a` repeated along axes of length 1 |
| `elementwise(a, b, ...; function, dtype)` | a function of the language, element by element |
| `cast(a; dtype)` | `a` in another type |
| `einsum(a, b, ...; equation)` | the sum of products that the equation says |
| `reduce(a; function, axes)` | `a` combined along axes by `+`, `*`, `min` or `max` |
| `put(a, b; starts)` | `a` with `b` written over it from there on |
| `zeros(shape, dtype)` | zeros |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.records import record

Library = Mapping[str, Callable[..., Any]]


@record(eq=False)
class Instruction:
    """One instruction: its name, the numbers of the values it takes, and its attributes (numbers, words, lists)."""

    name: str
    operands: tuple[int, ...]
    attributes: Mapping[str, Any]


@record(eq=False)
class ArrayProgram:
    """Instructions over numbered values: first the `inputs` many inputs, then what each instruction gives."""

    inputs: int
    instructions: tuple[Instruction, ...]
    results: tuple[int, ...]

    def plain(self) -> dict[str, Any]:
        """The program as JSON has it."""
        nodes = [[each.name, list(each.operands), dict(each.attributes)] for each in self.instructions]
        return {"inputs": self.inputs, "nodes": nodes, "results": list(self.results)}


def from_plain(of: Mapping[str, Any]) -> ArrayProgram:
    """The program that `plain` wrote."""
    nodes = tuple(Instruction(name, tuple(operands), attributes) for name, operands, attributes in of["nodes"])
    return ArrayProgram(of["inputs"], nodes, tuple(of["results"]))


def run_program(program: ArrayProgram, inputs: Sequence[Any], library: Library) -> tuple[Any, ...]:
    """The results of a program; `library` computes each instruction of its operands and attributes."""
    values = list(inputs)
    for each in program.instructions:
        values.append(library[each.name](*(values[at] for at in each.operands), **each.attributes))
    return tuple(values[at] for at in program.results)


@dataclass(eq=False)
class Writer:
    """Writes instructions, none twice: they compute, and change nothing."""

    inputs: int
    instructions: list[Instruction] = field(default_factory=list)
    _known: dict[Any, int] = field(default_factory=dict)

    def __call__(self, name: str, *operands: int, **attributes: Any) -> int:
        """The number of the value that an instruction gives."""
        key = (name, operands, repr(sorted(attributes.items())))
        if key not in self._known:
            self.instructions.append(Instruction(name, operands, attributes))
            self._known[key] = self.inputs + len(self.instructions) - 1
        return self._known[key]
