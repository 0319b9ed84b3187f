"""Unification of types: what unknown types, element types and dimensions must be, for two types to be one.

Robinson's algorithm on types; dimensions are whole-number equations between polynomials.  One that holds an unknown is
solved for it, one between numbers holds or fails, and one between sizes that only a call tells becomes a check of the
run (`Equation`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd
from typing import Any

from workbench.graph.terms.dimensions import Dimension, dimension, is_unknown, names_of_sizes, replaced, symbols
from workbench.graph.terms.types import (
    DataType,
    Element,
    ElementVariable,
    FunctionType,
    ReferenceType,
    TensorType,
    TupleType,
    Type,
    TypeVariable,
    map_type,
    parts,
    walk_type,
)
from workbench.lang.algebra.facts import Facts
from workbench.lang.algebra.polynomial import Polynomial, split_linear
from workbench.lang.dtypes import INT64, DType
from workbench.lang.expr import Size
from workbench.lang.scopes.type_variables import CLASSES


class Mismatch(Exception):
    """Two types cannot be one; `why` says more than their difference does, if there is more to say.

    `equation` is the one that failed, where it had to wait until more was known.
    """

    def __init__(self, why: str = "", equation: Equation | None = None) -> None:
        super().__init__(why)
        self.why, self.equation = why, equation


@dataclass(frozen=True)
class Equation:
    """Two dimensions that must be equal when the model runs; `place` is where that was asked for."""

    left: Dimension
    right: Dimension
    place: Any = None


Classes = dict[str, frozenset[DType]]


@dataclass
class Unifier:
    """What is known so far of the unknowns, by name.

    `classes` limits what element types that vary may stand for.  `open` are equations that wait until more is known,
    `checks` those that only a run can decide; `place` is put into those that are made.
    """

    known: dict[str, Type | Element | Dimension] = field(default_factory=dict)
    classes: Classes = field(default_factory=dict)
    open: list[Equation] = field(default_factory=list)
    checks: list[Equation] = field(default_factory=list)
    count: int = 0
    place: Any = None

    # --- unknowns

    def name(self) -> str:
        """The name of a new unknown."""
        self.count += 1
        return f"?{self.count}"

    def type(self) -> TypeVariable:
        """A new unknown type."""
        return TypeVariable(self.name())

    def element(self, among: frozenset[DType] | None = None) -> ElementVariable:
        """A new unknown element type, of a class if it is given."""
        made = ElementVariable(self.name())
        if among is not None:
            self.classes[made.name] = among
        return made

    def dimension(self) -> Dimension:
        """A new unknown dimension."""
        return dimension(self.name())

    # --- what is known

    def resolved(self, of: Type) -> Type:
        """The type with everything put in that is known by now."""
        return map_type(of, self._resolved)

    def _resolved(self, of: Type) -> Type:
        match of:
            case TypeVariable(name) if name in self.known:
                found = self.known[name]
                assert isinstance(
                    found, TypeVariable | TensorType | TupleType | FunctionType | ReferenceType | DataType
                )
                return self.resolved(found)
            case TensorType(element, dims):
                return TensorType(self.resolved_element(element), tuple(map(self.resolved_dimension, dims)))
            case _:
                return of

    def resolved_element(self, of: Element) -> Element:
        """The element type with what is known put in."""
        first = of
        while isinstance(of, ElementVariable) and of.name in self.known:
            found = self.known[of.name]
            assert isinstance(found, ElementVariable | DType)
            of = found
        if isinstance(first, ElementVariable) and first is not of:
            self.known[first.name] = of  # long chains are followed once
        return of

    def resolved_dimension(self, of: Dimension) -> Dimension:
        """The dimension with what is known put in."""
        if of.constant is not None:
            return of
        first = of
        while found := {name: self._dimension(name) for name in symbols(of) if name in self.known}:
            of = replaced(of, found)
        name = first.only_atom() if first is not of else None
        if isinstance(name, Size):
            self.known[name.name] = of
        return of

    def _dimension(self, name: str) -> Dimension:
        found = self.known[name]
        assert isinstance(found, Polynomial)
        return found

    # --- unification

    def unify(self, a: Type, b: Type) -> None:
        """Make two types one; Mismatch if nothing makes them so."""
        stack = [(a, b)]
        while stack:
            left, right = map(self.head, stack.pop())
            if left == right:
                continue
            if isinstance(left, TypeVariable) and is_unknown(left.name):
                self._bind(left, right)
            elif isinstance(right, TypeVariable) and is_unknown(right.name):
                self._bind(right, left)
            elif isinstance(left, TensorType) and isinstance(right, TensorType):
                self._tensors(left, right)
            else:
                stack += _pairs(left, right)

    def head(self, of: Type) -> Type:
        """The type as far as its outermost part is known."""
        while isinstance(of, TypeVariable) and of.name in self.known:
            found = self.known[of.name]
            assert not isinstance(found, Polynomial | ElementVariable | DType)
            of = found
        return of

    def _bind(self, unknown: TypeVariable, to: Type) -> None:
        resolved = self.resolved(to)
        if unknown in walk_type(resolved):
            raise Mismatch("a type would contain itself")
        self.known[unknown.name] = resolved

    def _tensors(self, left: TensorType, right: TensorType) -> None:
        if len(left.dims) != len(right.dims):
            raise Mismatch
        self.elements(left.element, right.element)
        for a, b in zip(left.dims, right.dims, strict=True):
            self.equate(a, b)

    def elements(self, a: Element, b: Element) -> None:
        """Make two element types one."""
        left, right = self.resolved_element(a), self.resolved_element(b)
        if left == right:
            return
        if isinstance(right, ElementVariable) and is_unknown(right.name):
            left, right = right, left
        if not (isinstance(left, ElementVariable) and is_unknown(left.name)):
            raise Mismatch
        self.narrow(right, self.classes.get(left.name))
        self.known[left.name] = right

    def narrow(self, of: Element, among: frozenset[DType] | None) -> None:
        """Let an element type be one of a class."""
        of = self.resolved_element(of)
        if among is None:
            return
        if isinstance(of, DType):
            if of not in among:
                raise Mismatch(f"{of.name} is not one of {', '.join(sorted(each.name for each in among))}")
            return
        own = self.classes.get(of.name)
        if not is_unknown(of.name):
            if own is None or not own <= among:
                kind = next((name for name, types in CLASSES.items() if frozenset(types) == among), "numbers")
                raise Mismatch(f"{of.name} may be other than {kind}; declare it so: <{of.name}: {kind}>")
            return
        both = among if own is None else own & among
        if not both:
            raise Mismatch("no element type is of both classes")
        self.classes[of.name] = both

    # --- dimensions

    def equate(self, a: Dimension, b: Dimension) -> None:
        """Make two dimensions equal: solve for an unknown, wait, or leave a check to the run; or Mismatch."""
        left, right = self.resolved_dimension(a), self.resolved_dimension(b)
        if left == right or self._told(left, right) or self._told(right, left):
            return
        difference = left - right
        if never_zero(difference):
            raise Mismatch
        unknown = [name for name in names_of_sizes(difference) if is_unknown(name)]
        if not unknown:
            self.checks.append(Equation(left, right, self.place))
        elif not any(self._solved(difference, name) for name in unknown):
            self.open.append(Equation(left, right, self.place))

    def _told(self, unknown: Dimension, by: Dimension) -> bool:
        """Whether an unknown is told by a number or by a name, which needs no solving; it then is known."""
        name, other = unknown.only_atom(), by.only_atom()
        plain = isinstance(other, Size) and not is_unknown(other.name)
        if not (plain or (by.constant or -1) > 0) or not (isinstance(name, Size) and is_unknown(name.name)):
            return False
        self.known[name.name] = by
        return True

    def _solved(self, difference: Dimension, name: str) -> bool:
        """Whether the equation tells this unknown, which then is known."""
        parts = split_linear(difference, Size(name, INT64))
        factor = parts[0].constant if parts is not None else None
        if parts is None or not factor:
            return False
        rest = parts[1]
        if any(x % factor for _, x in rest.terms):
            return False
        self.known[name] = Polynomial({monomial: -x // factor for monomial, x in rest.terms})
        return True

    def settle(self) -> None:
        """Try the equations that wait, as long as that tells anything; Mismatch if one of them fails."""
        while True:
            waiting, self.open = self.open, []
            for equation in waiting:
                self.place = equation.place
                try:
                    self.equate(equation.left, equation.right)
                except Mismatch as mismatch:
                    raise Mismatch(mismatch.why, equation) from None
            if len(self.open) >= len(waiting):
                return


def never_zero(of: Dimension) -> bool:
    """Whether no sizes make this zero: it is a number, or is no multiple of what it would have to be, or has a sign."""
    if of.constant is not None:
        return of.constant != 0
    fixed = sum(x for monomial, x in of.terms if not monomial)
    step = gcd(*(x for monomial, x in of.terms if monomial))
    if fixed % step:
        return True
    facts = Facts(dict.fromkeys(symbols(of), 0))
    return facts.at_least(of, 1) or facts.at_least(-of, 1)


def _pairs(left: Type, right: Type) -> list[tuple[Type, Type]]:
    """What must be one for two types that are no tensors and no unknowns to be one."""
    a, b = parts(left), parts(right)
    same_name = not isinstance(left, DataType) or not isinstance(right, DataType) or left.name == right.name
    if type(left) is not type(right) or len(a) != len(b) or not same_name or isinstance(left, TypeVariable):
        raise Mismatch
    return list(zip(a, b, strict=True))
