"""The type of an operator, derived from its definition: what its range inference found is all there is to know.

Parameters and results are tensors whose dimensions are the operator's own extents, over its size symbols and the
integer scalars that shape it.  Element types are its type variables.  Which of them a result has that is not annotated,
the operator is asked at several types.
"""

from __future__ import annotations

from functools import lru_cache

from workbench.errors import OperatorError
from workbench.graph.terms.dimensions import Dimension, dimension, symbols
from workbench.graph.terms.types import ElementVariable, TensorType
from workbench.lang.binding.arrays import type_variables_of
from workbench.lang.dtypes import FLOAT32, FLOAT64, INT32, INT64, DType
from workbench.lang.operator import Operator
from workbench.lang.resolve.generics import instantiate
from workbench.lang.scopes.type_variables import CLASSES
from workbench.lang.syntax.parser import parse
from workbench.records import record

Classes = dict[str, frozenset[DType] | None]
_ALL = (FLOAT32, FLOAT64, INT32, INT64)


@record(slots=True)
class Parameter:
    """An argument of a call, by the name it has in the operator."""

    name: str
    type: TensorType


@record(slots=True)
class Signature:
    """What a call of an operator takes and gives.

    `sizes` are all names its dimensions are made of, `told` those that some shape tells.  `classes` are the element
    types that each type variable may stand for.  `results` have the elements that they have among floats: of other
    types ask `result_element` about those that `asked` counts.  Outputs that are accumulated into are parameters too,
    behind the rest.
    """

    parameters: tuple[Parameter, ...]
    results: tuple[TensorType, ...]
    sizes: tuple[str, ...]
    told: frozenset[str]
    classes: tuple[tuple[str, frozenset[DType] | None], ...]
    asked: tuple[int, ...]


@lru_cache(maxsize=1024)
def signature(op: Operator) -> Signature:
    """The type of an operator."""
    known = type_variables_of(op) if op.generic else {}
    arguments = [name for name in op.parameters if name not in op.scalars]
    arguments += [name for name in op.outputs if op.tensors[name].role == "inout"]
    parameters = tuple(Parameter(name, _tensor(op, name, known.get(name))) for name in arguments)
    classes = _classes(op)
    open_results = [name for name in op.outputs if op.generic and name not in known]
    followed = known | _followed(op, open_results, dict(classes), (FLOAT32, FLOAT64))
    results = tuple(_tensor(op, name, followed.get(name)) for name in op.outputs)
    told = frozenset(name for each in parameters for dim in each.type.dims for name in symbols(dim))
    asked = tuple(at for at, name in enumerate(op.outputs) if name in open_results)
    return Signature(parameters, results, (*op.scalars, *op.size_names), told, classes, asked)


@lru_cache(maxsize=1024)
def followed_by(op: Operator, output: int) -> ElementVariable | DType | None:
    """The type variable that a result has at whatever types, or the one type it always has; None if neither."""
    name = op.outputs[output]
    classes = dict(signature(op).classes)
    found = _followed(op, [name], classes, _ALL)
    if name in found:
        return ElementVariable(found[name])
    seen = {each.tensors[name].dtype for types in _probes(op.generic, classes, _ALL) if (each := _instance(op, types))}
    return seen.pop() if len(seen) == 1 else None


def result_element(op: Operator, output: int, types: dict[str, DType]) -> DType:
    """The element type of a result where the type variables stand for these types; OperatorError for none."""
    return instantiate(op, types).tensors[op.outputs[output]].dtype


def _tensor(op: Operator, name: str, variable: str | None) -> TensorType:
    tensor = op.tensors[name]
    dims = tuple(_extent(dimension(extent)) for extent in tensor.extent)
    return TensorType(ElementVariable(variable) if variable else tensor.dtype, dims)


def _extent(of: Dimension) -> Dimension:
    """An extent that is a negative number is none."""
    return dimension(max(0, of.constant)) if of.constant is not None else of


def _classes(op: Operator) -> tuple[tuple[str, frozenset[DType] | None], ...]:
    if not op.generic:
        return ()
    define = next(each for each in parse(op.text).defs() if each.name.name == op.name)
    kinds = {generic.name: generic.kind.name if generic.kind else None for generic in define.generics}
    return tuple((name, frozenset(CLASSES[kind]) if kind else None) for name, kind in kinds.items())


def _followed(op: Operator, names: list[str], classes: Classes, probes: tuple[DType, ...]) -> dict[str, str]:
    """The type variable that each of the results follows at these types."""
    if not names:
        return {}
    seen = [(types, made) for types in _probes(op.generic, classes, probes) if (made := _instance(op, types))]
    found: dict[str, str] = {}
    for name in names:
        pairs = [(types, made.tensors[name].dtype) for types, made in seen]
        same = [each for each in op.generic if all(types[each] == of for types, of in pairs)]
        found |= {name: same[0]} if same else {}
    return found


def _probes(generic: tuple[str, ...], classes: Classes, probes: tuple[DType, ...]) -> list[dict[str, DType]]:
    """Types for the variables: all alike, then each one different from the others."""
    allowed: dict[str, list[DType]] = {}
    for name in generic:
        among = classes[name]
        allowed[name] = [each for each in probes if among is None or each in among] or sorted(among or (), key=str)
    made = [{name: of[min(at, len(of) - 1)] for name, of in allowed.items()} for at in range(len(probes))]
    for odd in generic if len(generic) > 1 else ():
        made.append({name: of[min(name == odd, len(of) - 1)] for name, of in allowed.items()})
    return [types for at, types in enumerate(made) if types not in made[:at]]


def _instance(op: Operator, types: dict[str, DType]) -> Operator | None:
    if all(of == FLOAT32 for of in types.values()):
        return op  # its own tensors have the types of its variables' defaults
    try:
        return instantiate(op, types)
    except OperatorError:
        return None


def refuses(op: Operator, types: dict[str, DType]) -> str:
    """Why an operator means nothing for these element types; nothing if it means something.

    Only unusual types are asked about: whatever means something in float32 does so in the other floats.
    """
    if all(of.is_float for of in types.values()):
        return ""
    try:
        instantiate(op, types)
    except OperatorError as error:
        given = ", ".join(f"{name} = {of.name}" for name, of in types.items())
        return f"{op.name} means nothing for {given}: {str(error).splitlines()[0].partition(': ')[2]}"
    return ""
