"""The normal form of a scheduled program: what is left when the steps that led to it are forgotten."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.expr import Expr
from workbench.lang.printing.printer import show
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Mark, Sequence, Tree, statements
from workbench.poly.time.timemap import row
from workbench.schedules.edit import normal


def normal_form(program: Program, tree: Tree) -> Any:
    """Nested tuples, equal for schedules that do the same in the same order with the same storage.

    The names of loops do not count, nor the order in which statements were made, nor how a row is spelt.
    """
    tree = normal(tree)
    order = tuple(statements(tree))
    return *_computed(program, order), _form(program, tree, _numbers(order))


def normal_text(program: Program, tree: Tree) -> str:
    """The `repr` of the normal form; the part that schedules of one program share is written once for all of them."""
    tree = normal(tree)
    order = tuple(statements(tree))
    return f"{_computed_text(program, order)}{_form(program, tree, _numbers(order))!r})"


def _numbers(order: tuple[str, ...]) -> dict[str, str]:
    return {s: f"S{i}" for i, s in enumerate(order)}


def _computed(program: Program, order: tuple[str, ...]) -> tuple[Any, ...]:
    """What is computed, in which storage, by statements in this order."""
    own = [program.statement(s) for s in order]
    bodies = [(s.name, s.kind, s.dims, _anonymous(s.domain, s.id), s.targets, s.values, s.reduction) for s in own]
    arrays = sorted(program.arrays.values(), key=lambda a: a.name)
    return program.original.operator, tuple(sorted(program.sizes.items())), program.symbols, arrays, bodies


@lru_cache(maxsize=256)
def _computed_text(program: Program, order: tuple[str, ...]) -> str:
    return f"({', '.join(map(repr, _computed(program, order)))}, "


def _anonymous(domain: str, identifier: str) -> str:
    return domain.replace(f"{identifier}[", "[")


def _terms(expr: Expr) -> tuple[str, ...]:
    """The terms of a row, in an order of their own."""
    return tuple(sorted(f"{factor} {' '.join(sorted(map(show, parts)))}" for parts, factor in polynomial(expr).terms))


def _form(program: Program, tree: Tree, numbers: dict[str, str]) -> Any:
    match tree:
        case Leaf(statement):
            return numbers[statement]
        case Sequence(children):
            return tuple(_form(program, child, numbers) for child in children)
        case Mark(note, child):
            return note.name, note.value, _form(program, child, numbers)
        case Band(loops, child):
            terms = [{s: _terms(row(x, program.statement(s), program)) for s, _ in x.rows} for x in loops]
            rows = [
                (loop.kind, sorted((numbers[s], own) for s, own in found.items()))
                for loop, found in zip(loops, terms, strict=True)
            ]
            return rows, _form(program, child, numbers)
