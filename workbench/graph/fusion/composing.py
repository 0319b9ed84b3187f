"""Composition: several calls of operators as one definition, which calls theirs one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from workbench.errors import OperatorError
from workbench.graph.fusion.call_graph import CallGraph, Slot, Value, operator_of
from workbench.graph.fusion.flattening import flattened
from workbench.graph.terms.dimensions import Dimension, dimension, is_unknown, replaced, symbols
from workbench.graph.terms.nodes import Call
from workbench.graph.terms.nodes import Term as Node
from workbench.graph.terms.types import TensorType, TupleType, Type
from workbench.graph.typing.signatures import signature
from workbench.lang.algebra.polynomial import expression
from workbench.lang.builtins import BUILTINS
from workbench.lang.definitions import assembled
from workbench.lang.derived.text.source import KEYWORDS, Names
from workbench.lang.dtypes import ALIASES, DTYPES, DType
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import print_parameter, print_statement, print_unit, surface, type_name
from workbench.lang.scopes.scope import WORDS
from workbench.lang.syntax.parser import parse
from workbench.lang.syntax.syntax import Assign, CallStep, Define, Parameter, TargetNode, TypeNode, Unit
from workbench.lang.syntax.terms import Apply, Name, Term
from workbench.records import record

Types = dict[Node, Type]
_RESERVED = frozenset({*WORDS, *KEYWORDS, *BUILTINS, *DTYPES, *ALIASES})


class NotComposable(Exception):
    """Why some calls cannot be one definition, in words."""


Naming = Callable[[str, set[str]], str]
"""A name for the definition of some calls, given what it says without one and the words that occur in it."""


@record(eq=False)
class Composition:
    """One operator that computes what several calls do.

    `arguments` are what it takes, `results` what its outputs are, `sizes` what a call of it gives by name.
    """

    operator: Operator
    arguments: tuple[Value, ...]
    results: tuple[Slot, ...]
    sizes: tuple[tuple[str, Dimension], ...]


def composed(naming: Naming, calls: Sequence[Call], graph: CallGraph, types: Types) -> Composition:
    """The calls, which stand in an order in which they can be computed, as one operator with the name that it is given.

    Raises NotComposable where some operator accumulates into its argument, an element type is not known, or two
    definitions they use have the same name.
    """
    return _Composing(calls, graph, types).composition(naming)


def why_alone(call: Call, graph: CallGraph, types: Types) -> str:
    """Why a call cannot be part of a composition; nothing if it can."""
    op = operator_of(call)
    if op.language != "operator":
        return f"{op.name} was read from C"
    if any(op.tensors[name].role == "inout" for name in op.outputs):
        return f"{op.name} accumulates into its argument"
    if call in graph.ordered:
        return f"what {op.name} takes is read in order"
    values = [*graph.arguments[call], *graph.results(call)]
    if not all(isinstance(of := type_of(each, types), TensorType) and isinstance(of.element, DType) for each in values):
        return f"the element types of {op.name} vary"
    return ""


def type_of(value: Value, types: Types) -> Type:
    """The type of a result or another term."""
    if not isinstance(value, tuple):
        return types[value]
    whole = types[value[0]]
    return whole.items[value[1]] if isinstance(whole, TupleType) else whole


class _Composing:
    """Writes one definition."""

    def __init__(self, calls: Sequence[Call], graph: CallGraph, types: Types) -> None:
        self.calls, self.graph, self.types = tuple(calls), graph, types
        for call in self.calls:
            if why := why_alone(call, graph, types):
                raise NotComposable(why)
        self.items = _items(dict.fromkeys(operator_of(call) for call in self.calls))
        self.names = Names({*_RESERVED, *self.items})
        own = set(self.calls)
        inputs = [each for call in self.calls for each in graph.arguments[call]]
        self.inputs = list(dict.fromkeys(v for v in inputs if not (isinstance(v, tuple) and v[0] in own)))
        self.results = [slot for call in self.calls for slot in graph.results(call) if _leaves(slot, graph, own)]
        self.known: dict[str, Dimension] = {}
        self.scalars: dict[str, Dimension] = {}
        self.whole: dict[Dimension, str] = {}
        self._name_dimensions()
        self.words: dict[Value, str] = {}

    def composition(self, naming: Naming) -> Composition:
        """The definition, read, with what is read once written where it is read."""
        parameters = [self._parameter(value) for value in self.inputs]
        for call in self.calls:
            for slot, output in zip(self.graph.results(call), operator_of(call).outputs, strict=True):
                self.words[slot] = self.names(output)
        parameters += [Parameter(TypeNode(Name("int32"), ()), Name(name)) for name in self.scalars]
        outputs = tuple(Parameter(None, Name(self.words[slot])) for slot in self.results)
        body = tuple(self._step(call) for call in self.calls)
        op = self._read(naming, tuple(parameters), outputs, body)
        self._check(op)
        return Composition(op, tuple(self.inputs), tuple(self.results), tuple(self.scalars.items()))

    def _read(
        self, naming: Naming, parameters: tuple[Parameter, ...], outputs: tuple[Parameter, ...],
        body: tuple[Assign | CallStep, ...],
    ) -> Operator:  # fmt: skip
        """What the def of these parts means, without calls."""
        used = tuple(self.items.values())
        says = f"{_listed(parameters)} -> {_listed(outputs)} {{\n" + "\n".join(map(print_statement, body)) + "\n}"
        name = naming("\n".join((*used, says)), self.names.taken)
        define = Define(Name(name), (), parameters, outputs, (), body)
        unit = Unit((*(item for text in used for item in parse(text).items), define))
        return _without_calls(unit, name, "\n".join((*used, f"def {name}{says}")))

    # --- dimensions

    def _name_dimensions(self) -> None:
        """Names of the model stay where some argument has such a dimension; others are told by a whole dimension, or
        given as numbers.
        """
        dims = [dim for value in self.inputs for dim in self._tensor(value).dims]
        for dim in dims:
            for name in symbols(dim) if dim.only_atom() is not None else ():
                if not is_unknown(name) and name not in self.known:
                    self.known[name] = dimension(self.names(_word(name, "n")))
        for dim in dims:
            if dim.constant is None and not symbols(dim) <= self.known.keys() and dim not in self.whole:
                self.whole[dim] = self.names("n")
        given = [size for call in self.calls for _, size in call.sizes]
        for name in dict.fromkeys(name for size in given for name in sorted(symbols(size))):
            if name not in self.known:
                word = self.names(_word(name, "size"))
                self.known[name], self.scalars[word] = dimension(word), dimension(name)

    def _dimension(self, dim: Dimension) -> Dimension:
        return dimension(self.whole[dim]) if dim in self.whole else replaced(dim, self.known)

    def _tensor(self, value: Value) -> TensorType:
        found = type_of(value, self.types)
        assert isinstance(found, TensorType)
        return found

    # --- parts of the def

    def _parameter(self, value: Value) -> Parameter:
        of = self._tensor(value)
        assert isinstance(of.element, DType)
        word = self.words[value] = self.names(self._wanted(value))
        return Parameter(TypeNode(Name(type_name(of.element)), tuple(map(self._term, of.dims))), Name(word))

    def _term(self, dim: Dimension) -> Term:
        return surface(expression(self._dimension(dim)))

    def _wanted(self, value: Value) -> str:
        """What the first operator that takes the value calls it: calls of other values are of the same definition."""
        for call in self.calls:
            for name, given in zip(signature(operator_of(call)).parameters, self.graph.arguments[call], strict=True):
                if given == value:
                    return name.name
        raise AssertionError(value)

    def _step(self, call: Call) -> Assign | CallStep:
        op = operator_of(call)
        pairs = zip(signature(op).parameters, self.graph.arguments[call], strict=True)
        given: dict[str, Term] = {parameter.name: Name(self.words[value]) for parameter, value in pairs}
        given |= {name: self._term(size) for name, size in call.sizes}
        results = tuple(TargetNode(Name(self.words[slot]), ()) for slot in self.graph.results(call))
        arguments = tuple(given[name] for name in op.parameters)
        if len(results) > 1:
            return CallStep(results, Name(op.name), arguments)
        return Assign(results, Name("="), (Apply(Name(op.name), arguments),), ())

    def _check(self, op: Operator) -> None:
        """The results must be what the calls' are."""
        for slot, found in zip(self.results, signature(op).results, strict=True):
            of = self._tensor(slot)
            if self.whole and any(symbols(dim) - self.known.keys() for dim in of.dims):
                continue  # said in other names
            wanted = TensorType(of.element, tuple(replaced(dim, self.known) for dim in of.dims))
            if found != wanted:
                raise NotComposable(f"{self.words[slot]} would be of another type")


def _leaves(slot: Slot, graph: CallGraph, own: set[Call]) -> bool:
    """Whether something outside a group uses a result; one that nobody uses at all stays if its call has no other."""
    readers = graph.readers.get(slot, ())
    return slot in graph.outside or any(reader not in own for reader, _ in readers)


def _word(name: str, otherwise: str) -> str:
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    return word if re.fullmatch(r"[A-Za-z]\w{0,60}", word) else otherwise


def _items(ops: Iterable[Operator]) -> dict[str, str]:
    """The definitions that operators are made of, by name."""
    found: dict[str, str] = {}
    for op in ops:
        for name, text in _definitions(op.text):
            if found.setdefault(name, text) != text:
                raise NotComposable(f"two definitions are named {name}")
    return found


@lru_cache(maxsize=1024)
def _definitions(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((item.name.name, print_unit(Unit((item,)))) for item in parse(text).items)


def _listed(parameters: Iterable[Parameter]) -> str:
    return f"({', '.join(map(print_parameter, parameters))})"


def _without_calls(unit: Unit, name: str, text: str) -> Operator:
    try:
        found = _flattened(assembled(unit, name, text))
    except OperatorError as error:
        raise NotComposable(str(error).splitlines()[0]) from None
    if found is None:
        raise NotComposable("their definitions cannot be written as one without calls")
    return found


_flattened = lru_cache(maxsize=1024)(flattened)
