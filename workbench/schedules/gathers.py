"""What data would have to be for a may-dependence through a gather or scatter to be real."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.lang.dtypes import INT64
from workbench.lang.expr import Const, Expr, substitute
from workbench.lang.expr import reads as reads_of
from workbench.lang.normal_form import simplify
from workbench.lang.printer import show
from workbench.poly.order import Violation
from workbench.poly.program import Access, Program


def data_conditions(program: Program, violation: Violation) -> str:
    """`, if idx(0) = idx(1)`: contents of index arrays that make the witness a real conflict."""
    dependence = violation.dependence
    assert dependence is not None
    sizes = {**program.sizes, **violation.sizes}
    for source in _touching(program, dependence.source, dependence.array, writes=dependence.kind != "anti"):
        for target in _touching(program, dependence.target, dependence.array, writes=dependence.kind != "flow"):
            found = _meeting(source, target, {**sizes, **violation.source}, {**sizes, **violation.target})
            if found is not None:
                return f", if {' and '.join(found)}" if found else ", where the data let both happen"
    return ", if the data make them meet"


def _touching(program: Program, statement: str, array: str, *, writes: bool) -> Iterator[Access]:
    for access in program.statement(statement).accesses:
        if access.array == array and (access.kind == "write") == writes:
            yield access


def _meeting(first: Access, second: Access, here: dict[str, int], there: dict[str, int]) -> list[str] | None:
    """The equations under which two accesses touch one cell; None if they cannot."""
    equations = []
    for a, b in zip(first.subscripts, second.subscripts, strict=True):
        left, right = _at(a, here), _at(b, there)
        if left == right:
            continue
        if isinstance(left, Const) and isinstance(right, Const):
            return None
        equations.append(f"{show(left)} = {show(right)}")
    return equations


def _at(subscript: Expr, values: dict[str, int]) -> Expr:
    """The subscript with the values of the instance; reads of data stay."""
    bound = substitute(subscript, {name: Const(value, INT64) for name, value in values.items()})
    return bound if next(reads_of(bound), None) else simplify(bound)
