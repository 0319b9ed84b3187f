"""Values and their duals: functions of the model that make one of the other, structure by structure.

    dual      a value with new cells                 value     the value of a dual
    gradient  what came to the cells of a dual       seeded    adds to the cells of a dual

For a data type each is a recursive function of the model.  Integers have no gradient: they stand in its place as they
are.  Where two structures differ, the seed of what has no counterpart is left out.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.graph.gradients.backpropagators import Lets
from workbench.graph.gradients.derived_operators import Derived
from workbench.graph.gradients.duals import Duals, claimed
from workbench.graph.terms.datatypes import Variant
from workbench.graph.terms.nodes import (
    Binder,
    Call,
    Clause,
    Construction,
    Constructor,
    Function,
    Global,
    Items,
    Match,
    NewReference,
    Projection,
    ReadReference,
    Term,
    Tuple,
    Variable,
    Wildcard,
    WriteReference,
)
from workbench.graph.terms.types import UNIT, DataType, Quantified, TensorType, TupleType, Type, variables_of
from workbench.graph.typing.schemes import Meaning


class Crossing:
    """Makes terms that cross over; `functions` are those of the model that they call."""

    def __init__(self, duals: Duals, derived: Derived, taken: set[str], quantified: tuple[Quantified, ...]) -> None:
        self.duals, self.derived, self.taken, self.quantified = duals, derived, taken, quantified
        self.functions: dict[str, Function] = {}
        self.names: dict[tuple[str, Type], str] = {}

    def dual(self, value: Term, of: Type) -> Term:
        """A value of this type, each float tensor with a new cell."""
        match of:
            case TensorType() if self.duals.elements.has_gradient(of):
                return Tuple((value, NewReference(self.derived.zeros_like(value, len(of.dims)))))
            case TupleType(items):
                return Tuple(tuple(self.dual(Projection(value, at), each) for at, each in enumerate(items)))
            case DataType():
                return self._mapped("dual", self.dual, value, of, of, self.duals.of(of))
            case _:
                return value

    def value(self, dual: Term, of: Type) -> Term:
        """The value of the dual of a value of this type."""
        return self._taken("value", dual, of, lambda pair: Projection(pair, 0))

    def gradient(self, dual: Term, of: Type) -> Term:
        """What the cells of the dual of a value of this type hold."""
        return self._taken("gradient", dual, of, lambda pair: ReadReference(Projection(pair, 1)))

    def seeded(self, dual: Term, seed: Term, of: Type, lets: Lets) -> None:
        """Lines that add a seed of this type to the cells of a dual."""
        match of:
            case TensorType() if self.duals.elements.has_gradient(of):
                cell = Projection(dual, 1)
                lets.bind("_", WriteReference(cell, self.derived.added(ReadReference(cell), seed, len(of.dims))))
            case TupleType(items):
                for at, each in enumerate(items):
                    self.seeded(Projection(dual, at), Projection(seed, at), each, lets)
            case DataType():
                lets.bind("_", Call(Global(self._seeding(of)), (dual, seed)))
            case _:
                pass

    def _taken(self, name: str, dual: Term, of: Type, take: Callable[[Term], Term]) -> Term:
        match of:
            case TensorType() if self.duals.elements.has_gradient(of):
                return take(dual)
            case TupleType(items):
                parts = (self._taken(name, Projection(dual, at), each, take) for at, each in enumerate(items))
                return Tuple(tuple(parts))
            case DataType():
                part = getattr(self, name)
                return self._mapped(name, part, dual, of, self.duals.of(of), of)
            case _:
                return dual

    # --- data types

    def _mapped(
        self, what: str, part: Callable[[Term, Type], Term], value: Term, of: DataType, before: Type, after: Type
    ) -> Term:
        """A call of the function that maps every field."""
        if before == after:
            return value
        name = self._named(what, of)
        if name not in self.functions:
            argument = Variable("data", before)
            self.functions[name] = Function((argument,), Tuple(()))  # what its own fields call
            clauses = tuple(self._clause(each, of, part, what) for each in self._variants(of))
            self.functions[name] = Function((argument,), Match(argument, clauses), after, self._quantified(of))
        return Call(Global(name), (value,))

    def _clause(self, variant: Variant, of: DataType, part: Callable[[Term, Type], Term], what: str) -> Clause:
        fields = [Variable(f"x{at}") for at in range(len(variant.fields))]
        made = (part(field, each) for field, each in zip(fields, variant.fields, strict=True))
        ours, dual = variant.name, self.duals.constructor(variant.name)
        taken, given = (ours, dual) if what == "dual" else (dual, ours)
        body = Call(Constructor(given), tuple(made))
        return Clause(Construction(taken, tuple(map(Binder, fields))), body)

    def _seeding(self, of: DataType) -> str:
        name = self._named("seeded", of)
        if name not in self.functions:
            dual, seed = Variable("dual", self.duals.of(of)), Variable("seed", of)
            self.functions[name] = Function((dual, seed), Tuple(()))
            clauses = [self._seeding_clause(each) for each in self._variants(of)]
            if len(clauses) > 1:
                clauses.append(Clause(Wildcard(), Tuple(())))
            body = Match(Tuple((dual, seed)), tuple(clauses))
            self.functions[name] = Function((dual, seed), body, UNIT, self._quantified(of))
        return name

    def _seeding_clause(self, variant: Variant) -> Clause:
        lets = Lets()
        duals = [Variable(f"x{at}") for at in range(len(variant.fields))]
        seeds = [Variable(f"d{at}") for at in range(len(variant.fields))]
        for dual, seed, of in zip(duals, seeds, variant.fields, strict=True):
            self.seeded(dual, seed, of, lets)
        left = Construction(self.duals.constructor(variant.name), tuple(map(Binder, duals)))
        right = Construction(variant.name, tuple(map(Binder, seeds)))
        return Clause(Items((left, right)), lets.around(Tuple(())))

    def _variants(self, of: DataType) -> list[Variant]:
        """The constructors of an applied data type, with its arguments in their fields."""
        definition = self.duals.known.types[of.name]
        meaning = Meaning(types=dict(zip(definition.parameters, of.arguments, strict=True)))
        return [Variant(each.name, tuple(map(meaning.of, each.fields))) for each in definition.variants]

    def _quantified(self, of: Type) -> tuple[Quantified, ...]:
        """What a function over this type declares: the variables that occur in it."""
        occurring = variables_of(of)
        return tuple(each for each in self.quantified if each.name in occurring and each.kind != "dimension")

    def _named(self, what: str, of: Type) -> str:
        if (what, of) not in self.names:
            wished = f"{what}_of_{of.name.lower()}" if isinstance(of, DataType) else what
            self.names[what, of] = claimed(wished, self.taken)
        return self.names[what, of]
