"""Definitions that are put together mean what their text means, and what is wrong stands in the same statements."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import pytest

import workbench as wb
from tests.support import examples
from workbench.errors import OperatorError
from workbench.lang.definitions import Refused, assembled, attempted, operators
from workbench.lang.derived.text.source import Source
from workbench.lang.derived.text.writing import Derived
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import print_unit
from workbench.lang.syntax.parser import parse
from workbench.lang.syntax.syntax import Assign, ForStep, Unit

NAMES = wb.ops.list()


def without_some_clauses(step, random: Random):
    """A step without some of its `where` clauses."""
    if isinstance(step, ForStep):
        return replace(step, body=tuple(without_some_clauses(each, random) for each in step.body))
    if not isinstance(step, Assign):
        return step
    return replace(step, clauses=tuple(each for each in step.clauses if random.random() < 0.4))


def changed(op: Operator, random: Random) -> Unit:
    """The definition of an operator with fewer ranges: most then mean the same, some nothing."""
    *others, define = parse(op.text).items
    return Unit((*others, replace(define, body=tuple(without_some_clauses(each, random) for each in define.body))))


def everything(op: Operator) -> tuple[object, ...]:
    """What an operator says, and in which words."""
    ranges = [(each.derivation for each in statement.ranges) for statement in op.statements()]
    return (
        op.text, op.parameters, op.outputs, op.tensors, op.size_names, op.scalars, op.body, op.conditions, op.promises,
        op.monoids, op.warnings, op.generic, [tuple(each) for each in ranges],
    )  # fmt: skip


def statements_in(message: str, text: str) -> set[int]:
    """The statements in whose lines a message sees problems."""
    lines = text.splitlines()
    first = max(at for at, line in enumerate(lines) if line.startswith("def "))
    own = [at for at, line in enumerate(lines) if at > first and not re.match(r" *(for .*|\})$", line)]
    named = {int(line) - 1 for line in re.findall(r"^line (\d+), column", message, re.MULTILINE)}
    return {number for number, at in enumerate(own) if at in named}


def agrees(op: Operator, unit: Unit) -> bool:
    """Whether a unit meant something; it must then be what its text means."""
    text = print_unit(unit)
    found, message = attempted(unit, op.name, text), ""
    try:
        read = operators(text)[op.name]
    except OperatorError as error:
        read, message = None, str(error)
    if read is not None:
        assert isinstance(found, Operator), text
        assert everything(found) == everything(read)
        return True
    assert isinstance(found, Refused), text
    assert found.statements is None or found.statements == statements_in(message, text), (text, message)
    with pytest.raises(OperatorError) as raised:
        assembled(unit, op.name, text)
    assert str(raised.value) == message
    return False


@pytest.mark.parametrize("name", NAMES)
def test_a_definition_with_fewer_ranges_means_what_its_text_means(name):
    op, random = wb.ops.load(name), Random(name)
    for _ in range(examples(quick=1, ci=2, full=10)):
        agrees(op, changed(op, random))


def test_some_definitions_mean_nothing_without_their_ranges():
    """So the comparison above is one of refusals as well, and most of those tell their statements."""
    found = []
    for name in NAMES:
        op = wb.ops.load(name)
        *others, define = parse(op.text).items
        bare = Unit((*others, replace(define, body=tuple(without_some_clauses(s, _Never()) for s in define.body))))
        found.append(attempted(bare, op.name, print_unit(bare)))
    refused = [each for each in found if isinstance(each, Refused)]
    assert len(refused) > 5
    assert sum(each.statements is not None for each in refused) > len(refused) / 2


class _Never(Random):
    def random(self) -> float:
        return 1.0


@pytest.mark.parametrize("name", NAMES)
def test_a_program_on_its_way_to_text_is_what_the_parser_reads(name):
    """What is made for the resolver is what would come of printing and parsing it."""
    op = wb.ops.load(name)
    op = op.astype("float") if op.generic else op
    made = Derived(
        Source(op, op), op.name, op.parameters, op.outputs, dict(op.tensors), op.body, frozenset(), op.promises,
        kind=None,
    )  # fmt: skip
    assert parse(print_unit(made.unit)) == made.unit
