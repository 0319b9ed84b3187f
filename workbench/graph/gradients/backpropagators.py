"""Functions over duals: they compute what they did, and leave in a cell what will compute the adjoints.

Every call of an operator puts a closure into the cell of the backpropagator that adds its gradients to the cells of its
arguments and then calls the one that was there before.  So `if`, `match`, recursion, closures and cells mean what they
meant, and are passed backwards as often as they were passed forwards (Pearlmutter and Siskind 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.graph.gradients.derived_operators import Derived, Plain, call_arguments
from workbench.graph.gradients.duals import BACK, Duals
from workbench.graph.gradients.structures import elements_of
from workbench.graph.terms.nodes import (
    Binder,
    Call,
    Clause,
    Constant,
    Construction,
    Constructor,
    Function,
    Global,
    If,
    Items,
    Let,
    Match,
    NewReference,
    Pattern,
    Primitive,
    Projection,
    ReadReference,
    Term,
    Tuple,
    Variable,
    WriteReference,
)
from workbench.graph.terms.types import FunctionType, Quantified, TensorType, TupleType, Type
from workbench.graph.terms.walking import Steps, run
from workbench.graph.typing.signatures import signature
from workbench.lang.operator import Operator
from workbench.records import record

if TYPE_CHECKING:
    from workbench.graph.models import Model


@record(slots=True, eq=False)
class _Taken:
    """What a call of an operator takes: plain values, and the cells of those that have a gradient, by position."""

    plain: Plain
    cells: Sequence[tuple[int, Term]]


class Lets:
    """The lines of a block that is being written."""

    def __init__(self) -> None:
        self.lines: list[tuple[Variable, Term]] = []

    def bind(self, name: str, value: Term) -> Variable:
        """A new line; its name for the lines below."""
        variable = Variable(name)
        self.lines.append((variable, value))
        return variable

    def around(self, body: Term) -> Term:
        """The block with this result."""
        for variable, value in reversed(self.lines):
            body = Let(variable, value, body)
        return body


class Backpropagators:
    """Rewrites the functions of a model in A-normal form; `global_names` are those of the duals."""

    def __init__(self, model: Model, duals: Duals, derived: Derived, global_names: dict[str, str]) -> None:
        self.model, self.duals, self.derived, self.global_names = model, duals, derived, global_names
        self.variables: dict[Variable, Variable] = {}

    def function(self, function: Function) -> Function:
        """The dual of a function."""
        made = run(self._function(function))
        assert isinstance(made, Function)
        return made

    def _function(self, function: Function) -> Steps[Term]:
        parameters = tuple(self._bound(each) for each in function.parameters)
        back = Variable("back", BACK)
        body = yield self._block(function.body, back)
        result = None if function.result is None else self.duals.of(function.result)
        return Function((*parameters, back), body, result, function.quantified, function.span)

    def _bound(self, variable: Variable) -> Variable:
        of = None if variable.type is None else self.duals.of(variable.type)
        return self.variables.setdefault(variable, Variable(variable.name, of, variable.span))

    def _block(self, term: Term, back: Variable) -> Steps[Term]:
        lets = Lets()
        while isinstance(term, Let):
            own = self._bound(term.variable)
            lets.lines.append((own, (yield self._value(term.value, back, lets))))
            term = term.body
        return lets.around((yield self._value(term, back, lets)))

    def _value(self, term: Term, back: Variable, lets: Lets) -> Steps[Term]:
        """What a node of a block becomes; lines that it needs before come into `lets`."""
        atom = self._atom
        match term:
            case Call(Primitive(op)):
                return self._operator(term, op, back, lets)
            case Call(Constructor(name), arguments):
                return Call(Constructor(self.duals.constructor(name)), tuple(atom(each, lets) for each in arguments))
            case Call(function, arguments, sizes, label):
                given = tuple(atom(each, lets) for each in arguments)
                return Call(atom(function, lets), (*given, back), sizes, label)
            case Function():
                return (yield self._function(term))
            case Tuple(items):
                return Tuple(tuple(atom(each, lets) for each in items))
            case Projection(of, index):
                return Projection(atom(of, lets), index)
            case If(condition, then, otherwise):
                branches = (yield self._block(then, back)), (yield self._block(otherwise, back))
                return If(atom(condition, lets), *branches)
            case Match(value, clauses):
                made: list[Clause] = []
                for each in clauses:
                    pattern = self._pattern(each.pattern)
                    made.append(Clause(pattern, (yield self._block(each.body, back))))
                return Match(atom(value, lets), tuple(made))
            case NewReference(value):
                return NewReference(atom(value, lets))
            case ReadReference(reference):
                return ReadReference(atom(reference, lets))
            case WriteReference(reference, value):
                return WriteReference(atom(reference, lets), atom(value, lets))
            case _:
                return atom(term, lets)

    def _pattern(self, pattern: Pattern) -> Pattern:
        match pattern:
            case Binder(variable):
                return Binder(self._bound(variable))
            case Construction(name, fields):
                return Construction(self.duals.constructor(name), tuple(map(self._pattern, fields)))
            case Items(items):
                return Items(tuple(map(self._pattern, items)))
            case _:
                return pattern

    def _atom(self, term: Term, lets: Lets) -> Term:
        """The dual of what a node has for an operand."""
        match term:
            case Variable():
                return self.variables[term]
            case Constant():
                of = self.model.type_of(term)
                return self.pair(term, of, lets) if self.duals.elements.has_gradient(of) else term
            case Global(name):
                return Global(self.global_names[name])
            case Primitive(op):
                return lets.bind(op.name, self._operator_value(term))
            case Constructor(name):
                return lets.bind(name.lower(), self._constructor_value(name))
            case Call(Constructor(name), ()):
                return Call(Constructor(self.duals.constructor(name)), ())
            case _:
                raise AssertionError(f"{term!r} is no atom")

    def pair(self, value: Term, of: Type, lets: Lets) -> Variable:
        """A tensor with a new cell for its adjoint."""
        assert isinstance(of, TensorType)
        cell = lets.bind("d", NewReference(self.derived.zeros_like(value, len(of.dims))))
        return lets.bind("dual", Tuple((value, cell)))

    # --- operators

    def _operator(self, call: Call, op: Operator, back: Variable, lets: Lets) -> Term:
        types = [self.model.type_of(each) for each in call.arguments]
        result = self.model.type_of(call)
        duals = [None if isinstance(each, Constant) else self._atom(each, lets) for each in call.arguments]
        plain = [
            each
            if dual is None
            else Projection(dual, 0)
            if self.duals.elements.has_gradient(of)
            else dual
            for each, dual, of in zip(call.arguments, duals, types, strict=True)
        ]
        wrt = [at for at, dual in enumerate(duals) if dual is not None and self.duals.elements.has_gradient(types[at])]
        cells = [(at, Projection(dual, 1)) for at in wrt if (dual := duals[at]) is not None]
        made = lets.bind(call.label or op.name, Call(call.function, tuple(plain), call.sizes, call.label))
        return self._paired(op, made, result, _Taken(Plain(plain, types, call.sizes), cells), back, lets)

    def _paired(self, op: Operator, made: Variable, result: Type, taken: _Taken, back: Variable, lets: Lets) -> Term:
        """The results with their cells, and the line that leaves the backpropagator."""
        several = isinstance(result, TupleType)
        outputs = [(Projection(made, at), of) for at, of in enumerate(result.items)] if several else [(made, result)]  # type: ignore[union-attr]
        items: list[Term] = []
        cells: list[Variable] = []
        for value, of in outputs:
            if not self.duals.elements.has_gradient(of):
                items.append(value)
                continue
            assert isinstance(of, TensorType)
            cells.append(lets.bind("d", NewReference(self.derived.zeros_like(value, len(of.dims)))))
            items.append(Tuple((value, cells[-1])))
        if cells and taken.cells:
            before = lets.bind("before", ReadReference(back))
            step = Function((), self._step(op, taken, cells, before))
            lets.bind("_", WriteReference(back, step))
        return Tuple(tuple(items)) if several else items[0]

    def _step(self, op: Operator, taken: _Taken, cells: list[Variable], before: Variable) -> Term:
        """Add the gradients of a call to the cells of its arguments, then go on with what came before it."""
        lets = Lets()
        seeds = [lets.bind("seed", ReadReference(cell)) for cell in cells]
        wrt = [at for at, _ in taken.cells]
        found = self.derived.gradients(op, wrt, taken.plain, seeds)
        for (at, cell), gradient in zip(taken.cells, found, strict=True):
            of = taken.plain.types[at]
            assert isinstance(of, TensorType)
            total = self.derived.added(ReadReference(cell), gradient, len(of.dims))
            lets.bind("_", WriteReference(cell, lets.bind("sum", total)))
        return lets.around(Call(before, ()))

    def _operator_value(self, node: Primitive) -> Function:
        """An operator that is a value: a function that calls it."""
        of = self.model.typing.types.get(node)
        names = call_arguments(node.operator)
        quantified: tuple[Quantified, ...] = ()
        if isinstance(of, FunctionType):
            types: tuple[Type, ...] = of.parameters
        else:
            head = signature(node.operator)
            types = tuple(each.type for each in head.parameters)
            quantified = tuple(Quantified(name, "element", "floats") for name, _ in head.classes)
        parameters = tuple(Variable(name, each) for name, each in zip(names, types, strict=True))
        call = Function(parameters, Call(node, parameters), None, quantified)
        own = self.model.with_functions({"main": call}, ()).a_normal_form()
        duals = Duals(own.datatypes, elements_of(own, self.duals.elements))
        return Backpropagators(own, duals, self.derived, {}).function(own.main)

    def _constructor_value(self, name: str) -> Function:
        _, variant = self.model.datatypes.constructors[name]
        fields = tuple(Variable(f"field{at}") for at in range(len(variant.fields)))
        return Function((*fields, Variable("back", BACK)), Call(Constructor(self.duals.constructor(name)), fields))
