"""Which functions and nodes nobody can tell apart from their values: no cell is made, read or written on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.graph.models import Model
from workbench.graph.terms.nodes import (
    Call,
    Constructor,
    Function,
    Global,
    Let,
    NewReference,
    Primitive,
    ReadReference,
    Term,
    Variable,
    WriteReference,
)
from workbench.graph.terms.types import (
    UNIT,
    DataType,
    FunctionType,
    ReferenceType,
    Type,
    TypeVariable,
    walk_type,
)
from workbench.graph.terms.walking import operands, postorder

CELLS = (NewReference, ReadReference, WriteReference)


class Quiet:
    """The quiet functions of a model: they only call operators, constructors, one another, and what they are given.

    Whether a call of one is quiet then depends on its arguments.  That calls end is taken for granted.
    """

    def __init__(self, model: Model) -> None:
        self.functions, self.types = model.functions, model.typing.types
        self.holding = _holding_functions(model)
        self.names = set(self.functions)
        while wrong := [name for name in self.names if not self._body(self.functions[name])]:
            self.names -= set(wrong)

    def term(self, term: Term) -> bool:
        """Whether everything below a term is quiet, bodies of functions included."""
        own = _named_functions(term)
        return all(self._node(node, own, generic=False) for node in postorder(term))

    def node(self, node: Term) -> bool:
        """Whether computing a node is quiet, its operands being known."""
        return self._node(node, set(), generic=False)

    def _body(self, function: Function) -> bool:
        own = _named_functions(function) | set(function.parameters)
        return all(self._node(node, own, generic=True) for node in postorder(function))

    def _node(self, node: Term, own: set[Variable], *, generic: bool) -> bool:
        if isinstance(node, CELLS):
            return False
        if not isinstance(node, Call):
            return True
        match node.function:
            case Primitive() | Constructor():
                return True
            case Function():
                return self.term(node.function)
            case Global(name):
                return name in self.names and all(self._given(each, own, generic) for each in node.arguments)
            case Variable():
                return node.function in own
            case _:
                return False

    def _given(self, argument: Term, own: set[Variable], generic: bool) -> bool:
        """Whether an argument holds no function, or a quiet one.

        What a quiet function makes of its parameters holds quiet functions only, if those do.
        """
        match argument:
            case Primitive() | Constructor():
                return True
            case Global(name):
                return name in self.names and not _calls(self.functions[name], self.functions[name].parameters)
            case Function():
                return self.term(argument)
            case _:
                return argument in own or self._plain(self.types.get(argument, UNIT), generic)

    def _plain(self, of: Type, generic: bool) -> bool:
        """Whether values of a type hold no functions; of a generic function, whatever it is given."""
        for part in walk_type(of):
            if isinstance(part, FunctionType | ReferenceType):
                return False
            if isinstance(part, TypeVariable) and not generic:
                return False
            if isinstance(part, DataType) and part.name in self.holding:
                return False
        return True


def _holding_functions(model: Model) -> set[str]:
    """Data types whose constructors have fields that are, or hold, functions or cells."""
    found: set[str] = set()
    while True:
        before = len(found)
        for name, definition in model.datatypes.types.items():
            inside = [part for each in definition.variants for field in each.fields for part in walk_type(field)]
            if any(isinstance(part, FunctionType | ReferenceType) for part in inside) or any(
                isinstance(part, DataType) and part.name in found for part in inside
            ):
                found.add(name)
        if len(found) == before:
            return found


def _calls(function: Function, variables: Iterable[Variable]) -> bool:
    """Whether a function calls one of the variables."""
    among = set(variables)
    return any(isinstance(node, Call) and node.function in among for node in postorder(function))


def _named_functions(term: Term) -> set[Variable]:
    """Variables of lets whose values are functions."""
    return {node.variable for node in postorder(term) if isinstance(node, Let) and isinstance(node.value, Function)}


def acts(node: Term, quiet: Quiet) -> bool:
    """Whether a node writes, or calls what might: it must be computed whether or not somebody asks for its value."""
    return isinstance(node, WriteReference) or (isinstance(node, Call) and not quiet.node(node))


def users_of(function: Function) -> dict[Term, list[Term]]:
    """The nodes that use each node of a function."""
    found: dict[Term, list[Term]] = {}
    for node in postorder(function):
        for each in operands(node):
            found.setdefault(each, []).append(node)
    return found


def is_detached(term: Term, users: Mapping[Term, list[Term]]) -> bool:
    """Whether a term can go without anything being computed later for it.

    What reads or writes a cell, and is used elsewhere too, would be computed only there.
    """
    inside = set(postorder(term))
    if not any(_is_ordered(node) for node in inside):
        return True
    shared = (node for node in inside if node is not term and operands(node))
    return len(users.get(term, ())) < 2 and all(user in inside for node in shared for user in users.get(node, ()))


def _is_ordered(node: Term) -> bool:
    if isinstance(node, Call):
        return not isinstance(node.function, Primitive | Constructor)
    return isinstance(node, ReadReference | WriteReference)
