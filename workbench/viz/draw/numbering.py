"""The numbers of statements and arrays: what colour and mark they have, in every picture and through all steps.

A name keeps the number that it had when it first appeared, in the operator's program or after a step: a copy, a buffer
or a partial result that a step adds comes behind all that were there, wherever it stands in the order.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.poly.programs.program import Program


def statement_numbers(program: Program) -> dict[str, int]:
    """Name of a statement → its number; also of those that are gone by now."""
    return _counted(statement.name for before in _history(program) for statement in before.statements)


def array_numbers(program: Program) -> dict[str, int]:
    """Name of an array → its number; also of those that are gone by now."""
    return _counted(name for before in _history(program) for name in before.arrays)


def _counted(names: Iterator[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _history(program: Program) -> list[Program]:
    """The operator's program, then what each step made of it, up to this one."""
    found = [program]
    while found[-1].parent is not None:
        found.append(found[-1].parent)
    return found[::-1]
