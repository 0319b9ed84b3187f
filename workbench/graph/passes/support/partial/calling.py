"""What the types of a function are called in the program that takes over its body."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.graph.models import Model
from workbench.graph.passes.support.copying import is_told, meaning_at, names_used
from workbench.graph.passes.support.partial.values import Activation, Closure
from workbench.graph.terms.dimensions import dimension, is_unknown, symbols
from workbench.graph.terms.nodes import Call, Function
from workbench.graph.terms.types import (
    ElementVariable,
    FunctionType,
    Quantified,
    Type,
    TypeVariable,
    variables_of,
)
from workbench.graph.typing.schemes import Meaning, declared


@dataclass(frozen=True)
class Named:
    """The meaning of types inside a function, and the names in scope there; `quantified` those it declares anew."""

    meaning: Meaning
    names: frozenset[str]
    quantified: tuple[Quantified, ...] = ()

    def of(self, written: Type | None) -> Type | None:
        """A type in the words of the new program."""
        return None if written is None else self.meaning.of(written)


class Scope:
    """The types of a model, and the names that are taken."""

    def __init__(self, model: Model) -> None:
        self.model, self.types = model, model.typing.types
        self.taken = {each.name for scheme in model.typing.schemes.values() for each in scheme.variables}
        self.used: dict[Function, set[str]] = {}

    def names_used(self, function: Function) -> set[str]:
        """The names that are written in a function."""
        if function not in self.used:
            self.used[function] = names_used(function)
        return self.used[function]

    def own(self, closure: Closure) -> tuple[Quantified, ...]:
        """What a local function quantifies, written or not."""
        outer = closure.around.names
        found = {each.name: each for each in declared(closure.function, outer)}
        for name, kind in variables_of(self.types[closure.function]).items():
            if name not in outer and name not in found:
                found[name] = Quantified(name, kind)
        return tuple(found.values())

    def declared(self, closure: Closure) -> Named:
        """The names of a function that the new program has: those it writes are new, others nobody can write."""
        function, around = closure.function, closure.around
        written = {each.name for each in declared(function, around.names)}
        meaning, own = _copy(around.meaning), self.own(closure)
        new: dict[str, str] = {}
        for each in own:
            new[each.name] = self._free(each.name) if each.name in written else f"?{each.name}"
            _rename(meaning, each, new[each.name])
        quantified = tuple(Quantified(new[q.name], q.kind, q.elements) for q in function.quantified)
        return Named(meaning, around.names | {each.name for each in own}, quantified)

    def _free(self, name: str) -> str:
        found, count = name, 0
        while found in self.taken:
            count += 1
            found = f"{name}_{count}"
        self.taken.add(found)
        return found


def entering(scope: Scope, node: Call, around: Activation, callee: str | Closure) -> Named | None:
    """The names inside a function whose body shall stand for a call; None if they cannot all be told."""
    if isinstance(callee, Closure):
        function, own = callee.function, scope.own(callee)
        of = scope.types[function]
        meaning, names = _copy(callee.around.meaning), callee.around.names
    else:
        function, scheme = scope.model.functions[callee], scope.model.scheme_of(callee)
        own, of, meaning, names = scheme.variables, scheme.type, Meaning(), frozenset[str]()
    assert isinstance(of, FunctionType)
    pairs = zip((*of.parameters, of.result), (*node.arguments, node), strict=True)
    told = [(written, around.meaning.of(scope.types[term])) for written, term in pairs if term in scope.types]
    found = _speakable(meaning_at(own, [a for a, _ in told], [b for _, b in told]))
    if not is_told(own, found, scope.names_used(function)):
        return None
    meaning.types |= found.types
    meaning.elements |= found.elements
    meaning.dims |= found.dims
    known = found.types.keys() | found.elements.keys() | found.dims.keys()
    for each in own:
        if each.name not in known:
            _rename(meaning, each, f"?{each.name}")
    return Named(meaning, names | {each.name for each in own})


def _copy(of: Meaning) -> Meaning:
    return Meaning(dict(of.types), dict(of.elements), dict(of.dims))


def _rename(meaning: Meaning, each: Quantified, new: str) -> None:
    match each.kind:
        case "type":
            meaning.types[each.name] = TypeVariable(new)
        case "element":
            meaning.elements[each.name] = ElementVariable(new)
        case _:
            meaning.dims[each.name] = dimension(new)


def _speakable(of: Meaning) -> Meaning:
    """Without what would mention a name that no program can write."""
    return Meaning(
        {name: each for name, each in of.types.items() if not any(map(is_unknown, variables_of(each)))},
        {name: e for name, e in of.elements.items() if not (isinstance(e, ElementVariable) and is_unknown(e.name))},
        {name: each for name, each in of.dims.items() if not any(map(is_unknown, symbols(each)))},
    )
