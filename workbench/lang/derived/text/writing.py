"""A derived program as text, and the text as an operator."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cached_property

from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.algebra.polynomial import Polynomial
from workbench.lang.definitions import Refused
from workbench.lang.derived.text.source import Source
from workbench.lang.derived.text.spelling import natural, with_casts
from workbench.lang.derived.text.trimming import attempted_without, ranges_of, spare_ranges, without
from workbench.lang.dtypes import DType
from workbench.lang.expr import Binary, Cast, Const, Expr, Read
from workbench.lang.operator import For, Monoid, Operator, Promise, Range, Statement, Step, Tensor
from workbench.lang.printing.printer import surface, type_name
from workbench.lang.syntax.syntax import (
    Assign,
    Clause,
    Define,
    ForStep,
    GenericNode,
    Parameter,
    PromiseNode,
    RangeClause,
    StepNode,
    TargetNode,
    TypeNode,
    Unit,
)
from workbench.lang.syntax.terms import Apply, Infix, Name, Prefix, Term, Ternary
from workbench.lang.unify import WEAK, unify
from workbench.records import record


@record
class Derived:
    """A program on its way to text.

    `parameters` and `outputs` are names in call order; a parameter of the source keeps its declaration.  `tensors`
    tells type and box of every name; `narrow` those that are stored in the type variable's own type, `annotated` the
    outputs whose type is written; `kind` is the class of types for which the type variable stands.
    """

    source: Source
    name: str
    parameters: tuple[str, ...]
    outputs: tuple[str, ...]
    tensors: dict[str, Tensor]
    body: tuple[Step, ...]
    narrow: frozenset[str]
    promises: tuple[Promise, ...] = ()
    doc: str = ""
    annotated: frozenset[str] = frozenset()
    kind: str | None = "floats"

    def statements(self) -> list[Statement]:
        """The statements of its body, in textual order."""
        return [statement for statement, _ in _all(self.body)]

    @cached_property
    def unit(self) -> Unit:
        """The program as the parser reads it, with every range."""
        return _Writer(self).unit()

    def operator(self) -> Operator:
        """The text read again, with ranges that the language infers by itself left out."""
        spare = spare_ranges(self)
        return replace(without(self, spare) if spare else self.whole, doc=self.doc)

    @cached_property
    def whole(self) -> Operator:
        """The text read again, with every range."""
        return without(self, frozenset())

    def briefly(self) -> Operator | None:
        """The text without any range, read again; None where the language infers others than the program has.

        That takes one reading where `operator` takes several.
        """
        found = attempted_without(self, ranges_of(self))
        if isinstance(found, Refused):
            return None
        pairs = zip(self.statements(), found.statements(), strict=True)
        same = [_bounds(a) == _bounds(b) for a, b in pairs]
        return replace(found, doc=self.doc) if all(same) else None


def _bounds(statement: Statement) -> list[tuple[str, Polynomial, Polynomial]]:
    ranges = sorted(statement.ranges, key=lambda each: each.index)
    return [(each.index, polynomial(each.lower), polynomial(each.upper)) for each in ranges]


class _Writer:
    """Prints one program; remembers which temporaries have their type by now."""

    def __init__(self, derived: Derived) -> None:
        self.derived, self.source = derived, derived.source
        self.typed = {*derived.parameters, *derived.annotated}
        written = Counter(target.tensor for statement, _ in _all(derived.body) for target in statement.targets)
        self.updated = {name for name, times in written.items() if times > 1}

    def unit(self) -> Unit:
        """What the text says, as the parser reads it."""
        derived, source = self.derived, self.source
        kind = Name(derived.kind) if derived.kind else None
        generics = (GenericNode(source.variable, kind),) if source.variable else ()
        body = tuple(self._step(step) for step in derived.body)
        define = Define(
            Name(derived.name),
            generics,
            tuple(self._parameter(name) for name in derived.parameters),
            tuple(self._output(name) for name in derived.outputs),
            tuple(_promise(promise) for promise in derived.promises),
            body,
        )
        used = {s.reduction.name for s, _ in _all(derived.body) if isinstance(s.reduction, Monoid)}
        monoids = tuple(monoid for monoid in source.monoids if monoid.name.name in used) if used else ()
        return Unit((*monoids, define))

    def _parameter(self, name: str) -> Parameter:
        if name in self.derived.tensors:
            return Parameter(self._type(self.derived.tensors[name]), Name(name))
        return next(parameter for parameter in self.source.define.parameters if parameter.name.name == name)

    def _output(self, name: str) -> Parameter:
        kind = self._type(self.derived.tensors[name]) if name in self.derived.annotated else None
        return Parameter(kind, Name(name))

    def _type(self, tensor: Tensor) -> TypeNode:
        return TypeNode(Name(self.source.word(tensor.dtype)), tuple(map(surface, tensor.extent)))

    def _step(self, step: Step) -> StepNode:
        if isinstance(step, For):
            axis = step.axis
            bounds = RangeClause(Name(axis.index), surface(axis.lower), surface(axis.upper))
            return ForStep(bounds, tuple(self._step(each) for each in step.body))
        return self._statement(step)

    def _statement(self, statement: Statement) -> Assign:
        values = tuple(self._value(statement, n) for n in range(len(statement.targets)))
        self.typed |= {target.tensor for target in statement.targets}
        targets = tuple(
            TargetNode(Name(t.tensor), tuple(self._term(with_casts(s)) for s in t.subscripts))
            for t in statement.targets
        )
        clauses: tuple[Clause, ...] = tuple(_clause(r) for r in statement.ranges if r.kind != "sequential")
        word, is_tuple = _operation(statement)
        return Assign(targets, Name(word), values, clauses, is_tuple)

    def _value(self, statement: Statement, position: int) -> Term:
        """The value, cast to what its target is where the language would not do so by itself."""
        name = statement.targets[position].tensor
        value = with_casts(statement.values[position])
        wanted, found = self.derived.tensors[name].dtype, natural(value)
        decides = name not in self.typed
        fits = found == wanted or (not decides and (found == WEAK or unify(found, wanted) == wanted))
        literal = found == WEAK and not decides
        if decides and wanted == self.source.stands_for and name not in self.derived.narrow:
            if found == WEAK:
                return self._term(Binary("+", Cast(value, wanted), Const(0.0, WEAK), wanted))  # no storage type
            if isinstance(value, Read) and name in self.updated:
                return self._term(Binary("+", value, Const(0.0, WEAK), wanted))
        if not fits or (name in self.derived.narrow and not literal and not self._plain(value)):
            value = Cast(value, wanted)
        return self._term(value)

    def _plain(self, value: Expr) -> bool:
        """Whether it is a parameter's cell, whose type is known."""
        return isinstance(value, Read) and value.tensor in self.derived.parameters

    def _term(self, expr: Expr) -> Term:
        """Surface syntax in which the stand-in type is the type variable."""
        stand_in = self.source.stands_for
        return surface(expr) if stand_in is None else _with_word(surface(expr), stand_in, self.source.variable)


def _with_word(term: Term, stand_in: DType, variable: str) -> Term:
    def changed(term: Term) -> Term:
        return _with_word(term, stand_in, variable)

    match term:
        case Apply(Name(name), arguments, _):
            word = variable if name == type_name(stand_in) else name
            return Apply(Name(word), tuple(map(changed, arguments)))
        case Prefix(op, operand, _):
            return Prefix(op, changed(operand))
        case Infix(op, left, right, _, _):
            return Infix(op, changed(left), changed(right))
        case Ternary(condition, then, otherwise, _):
            return Ternary(changed(condition), changed(then), changed(otherwise))
        case _:
            return term


def _operation(statement: Statement) -> tuple[str, bool]:
    mark = "=!" if statement.initialise else "="
    match statement.reduction:
        case None:
            return "=", False
        case str(word):
            return word + mark, False
        case Monoid("or" | "and" as word, ("truth",)):
            return ("max" if word == "or" else "min") + mark, False
        case Monoid(word):
            return word + mark, True


def _clause(bounds: Range) -> RangeClause:
    return RangeClause(Name(bounds.index), surface(bounds.lower), surface(bounds.upper))


def _promise(promise: Promise) -> PromiseNode:
    return PromiseNode(Name(promise.kind), (Name(promise.tensor), *map(surface, promise.arguments)))


def _all(body: tuple[Step, ...]) -> list[tuple[Statement, None]]:
    found: list[tuple[Statement, None]] = []
    for step in body:
        found += _all(step.body) if isinstance(step, For) else [(step, None)]
    return found
