"""How gradients follow the structure of values: which tensors of a type have one, and the leaves of tuples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from workbench.errors import ModelError
from workbench.graph.terms.datatypes import Datatypes
from workbench.graph.terms.nodes import Function, Projection, Term
from workbench.graph.terms.types import DataType, FunctionType, ReferenceType, TensorType, TupleType, Type, walk_type
from workbench.graph.terms.walking import postorder
from workbench.graph.text.printing_types import print_type
from workbench.lang.dtypes import DType
from workbench.lang.scopes.type_variables import CLASSES
from workbench.records import record

if TYPE_CHECKING:
    from workbench.graph.models import Model

_FLOATS = frozenset(CLASSES["floats"])


@record(slots=True)
class Elements:
    """The element variables of a model: those that stand for floats, and those that never do."""

    floats: frozenset[str]
    others: frozenset[str]

    def has_gradient(self, of: Type) -> bool:
        """Whether a type is that of a tensor with a gradient; ModelError where nobody said what its elements are."""
        if not isinstance(of, TensorType):
            return False
        if isinstance(of.element, DType):
            return of.element.is_float
        unsaid = of.element.name
        if unsaid not in self.floats | self.others:
            message = f"whether {print_type(of)} has a gradient depends on what {unsaid} stands for"
            raise ModelError(f"{message}; declare it: <{unsaid}: floats>, or write an element type")
        return unsaid in self.floats


def elements_of(model: Model, around: Elements | None = None) -> Elements:
    """What the functions of a model declare of their element variables, global or local, and those around it."""
    declared = [each for name in model.functions for each in model.scheme_of(name).variables]
    for function in model.functions.values():
        declared += [each for node in postorder(function) if isinstance(node, Function) for each in node.quantified]
    classes: dict[str, frozenset[DType]] = {}
    for each in declared:
        if each.kind == "element" and each.elements:
            classes[each.name] = classes.get(each.name, frozenset()) | frozenset(CLASSES[each.elements])
    floats = frozenset(name for name, among in classes.items() if among <= _FLOATS)
    others = frozenset(name for name, among in classes.items() if not among & _FLOATS)
    return Elements(floats | around.floats, others | around.others) if around else Elements(floats, others)


def leaves(of: Type, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Type]]:
    """What a tuple of tuples holds, each with the way to it."""
    if isinstance(of, TupleType):
        for at, item in enumerate(of.items):
            yield from leaves(item, (*path, at))
    else:
        yield path, of


def at_path(term: Term, path: tuple[int, ...]) -> Term:
    """The part of a tuple that the way leads to."""
    for index in path:
        term = Projection(term, index)
    return term


def chosen_parameters(model: Model, wrt: object, elements: Elements) -> list[int]:
    """Parameters of the entry by name, or all that hold floats; ModelError for others."""
    names = [each.name for each in model.main.parameters]
    of = model.type_of(model.entry)
    assert isinstance(of, FunctionType)
    types: Mapping[str, Type] = dict(zip(names, of.parameters, strict=True))
    holding = [name for name in names if holds_floats(types[name], model, elements)]
    wanted = holding if wrt is None else [wrt] if isinstance(wrt, str) else list(wrt)  # type: ignore[call-overload]
    for name in wanted:
        if name not in types:
            raise ModelError(f"wrt: {model.entry} has no parameter {name!r}; it has {', '.join(names) or 'none'}")
        if name not in holding:
            there = f"those of floats are {', '.join(holding)}" if holding else "no parameter holds any"
            raise ModelError(f"wrt: {name} is {print_type(types[name])}, which holds no floats; {there}")
        _refuse_unknown(name, types[name], model)
    if not wanted:
        raise ModelError(f"{model.entry} has no gradient: no parameter holds floats")
    _refuse_unknown("the result", of.result, model)
    if not holds_floats(of.result, model, elements):
        raise ModelError(f"{model.entry} has no gradient: its result, {print_type(of.result)}, holds no floats")
    return [names.index(name) for name in wanted]


def holds_floats(of: Type, model: Model, elements: Elements) -> bool:
    """Whether a value of a type may hold something with a gradient."""
    return any(elements.has_gradient(part) for part in everything_in(of, model.datatypes))


def everything_in(of: Type, known: Datatypes) -> Iterator[Type]:
    """The parts of a type, those of the fields of its data types included, each data type once."""
    seen: set[str] = set()
    waiting = [of]
    while waiting:
        for part in walk_type(waiting.pop()):
            yield part
            if isinstance(part, DataType) and part.name not in seen:
                seen.add(part.name)
                waiting += [field for variant in known.types[part.name].variants for field in variant.fields]


def _refuse_unknown(name: str, of: Type, model: Model) -> None:
    if any(isinstance(part, FunctionType | ReferenceType) for part in everything_in(of, model.datatypes)):
        raise ModelError(f"{name} is {print_type(of)}: there is no gradient by functions and cells; close over them")


def holds_data(of: Type) -> bool:
    """Whether a type has a data type in it."""
    return any(isinstance(part, DataType) for part in walk_type(of))
