"""Calls of operators: arguments against the operator's own parameters, sizes by name, results by its own extents."""

from __future__ import annotations

from workbench.graph.terms.dimensions import Dimension, is_unknown, symbols
from workbench.graph.terms.nodes import Call, Constant, Term
from workbench.graph.terms.scalars import sign_of
from workbench.graph.terms.types import Element, ElementVariable, FunctionType, TensorType, TupleType, Type
from workbench.graph.text.cursor import unknown_word
from workbench.graph.text.literals import print_scalar
from workbench.graph.text.printing_types import print_dimension, print_type
from workbench.graph.typing.schemes import Meaning
from workbench.graph.typing.signatures import Signature, followed_by, refuses, result_element, signature
from workbench.graph.typing.state import OperatorCall, State
from workbench.graph.typing.unification import Mismatch
from workbench.lang.algebra.folding import fold
from workbench.lang.dtypes import DType
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import show
from workbench.lang.scopes.type_variables import CLASSES
from workbench.wording import number_of

_FLOATS = frozenset(CLASSES["floats"])


def inferred_call(state: State, node: Call, op: Operator, arguments: tuple[Type, ...]) -> Type:
    """The type of a call of an operator; a problem is noted for arguments that do not fit."""
    found = signature(op)
    meaning = _meaning(state, found)
    fits = _check_count(state, node, op, found, arguments) and _check_sizes(state, node, op, found, meaning)
    if fits and all(_check_argument(state, node, op, found, meaning, at, of) for at, of in enumerate(arguments)):
        return _result(state, node, op, found, meaning)
    return state.unifier.type()


def operator_type(state: State, node: Term, op: Operator) -> Type:
    """The type of an operator that is a value itself."""
    found = signature(op)
    meaning = _meaning(state, found)
    missing = [name for name in found.sizes if name not in found.told]
    if missing:
        fix = f"write fn(x) {{ {op.name}(x, {missing[0]}=...) }}"
        state.complain(node, f"{op.name} is no function of its arrays alone: no shape tells {', '.join(missing)}", fix)
    parameters = tuple(meaning.of(each.type) for each in found.parameters)
    return FunctionType(parameters, _result(state, node, op, found, meaning))


def _meaning(state: State, found: Signature) -> Meaning:
    elements: dict[str, Element] = {name: state.unifier.element(among) for name, among in found.classes}
    return Meaning({}, elements, {name: state.unifier.dimension() for name in found.sizes})


def _check_sizes(state: State, node: Call, op: Operator, found: Signature, meaning: Meaning) -> bool:
    for name, size in node.sizes:
        if name not in found.sizes:
            message = f"{op.name}: {unknown_word('size', name, found.sizes)}"
            state.complain(node, message)
            return False
        if not _in_scope(state, node, size):
            return False
        meaning.dims[name] = size
    given = {name for name, _ in node.sizes}
    missing = [name for name in found.sizes if name not in found.told and name not in given]
    if missing:
        example = ", ".join(f"{name}=1" for name in missing)
        state.complain(node, f"{op.name}: no shape tells {', '.join(missing)}", f"give the size by name: {example}")
    return not missing


def _in_scope(state: State, node: Term, size: Dimension) -> bool:
    state.sizes |= symbols(size)
    for name in sorted(symbols(size) - state.dims.keys()):
        if not is_unknown(name):
            state.complain(node, unknown_word("dimension", name, state.dims))
            return False
    return True


def _check_count(state: State, node: Call, op: Operator, found: Signature, arguments: tuple[Type, ...]) -> bool:
    names = [each.name for each in found.parameters]
    if len(names) == len(arguments):
        return True
    message = f"{op.name} takes {_counted(len(names))} ({', '.join(names)}): expected {len(names)} but found"
    sizes = [name for name in found.sizes if name not in found.told]
    fix = f"sizes are given by name: {', '.join(f'{name}=...' for name in sizes)}" if sizes else ""
    state.complain(node, f"{message} {len(arguments)}", fix)
    return False


def _counted(count: int) -> str:
    return number_of(count, "argument")


def _check_argument(
    state: State, node: Call, op: Operator, found: Signature, meaning: Meaning, at: int, of: Type
) -> bool:
    parameter = found.parameters[at]
    expected = meaning.of(parameter.type)
    state.unifier.place = state.place(node, f"{op.name}: {parameter.name}")
    before = dict(meaning.dims)
    try:
        state.unifier.unify(expected, of)
    except Mismatch as mismatch:
        names = {dim.only_atom().name: name for name, dim in before.items() if dim.only_atom()}  # type: ignore[union-attr]
        names |= {e.name: name for name, e in meaning.elements.items() if isinstance(e, ElementVariable)}
        rename = names.get
        difference = state.difference(expected, of, mismatch, lambda name: rename(name, name))
        argument = node.arguments[at]
        place = argument if argument.span > node.span else node
        message = f"{sign_of(op) or op.name}: {parameter.name}{difference}"
        state.complain(place, message, _literal(state, argument, expected), _notes(state, op, found, meaning))
        return False
    return True


def _literal(state: State, argument: Term, expected: Type) -> str:
    """How a number is written in the type that is wanted, if it can be."""
    wanted = state.unifier.resolved(expected)
    if not isinstance(argument, Constant) or argument.array.ndim or not isinstance(wanted, TensorType):
        return ""
    if wanted.dims or not isinstance(wanted.element, DType):
        return ""
    made = argument.array.astype(wanted.element.numpy)
    return f"write {print_scalar(made)}" if made == argument.array else ""


def _notes(state: State, op: Operator, found: Signature, meaning: Meaning) -> tuple[str, ...]:
    """The operator's signature, and what its names stand for so far."""
    parameters = ", ".join(f"{each.name}: {print_type(each.type)}" for each in found.parameters)
    elements = {name: state.unifier.resolved_element(of) for name, of in meaning.elements.items()}
    known = [f"{name} = {of}" for name, of in elements.items() if isinstance(of, DType) or not is_unknown(of.name)]
    for name, dim in meaning.dims.items():
        value = state.unifier.resolved_dimension(dim)
        if not any(map(is_unknown, symbols(value))):
            known.append(f"{name} = {print_dimension(value)}")
    so_far = (f"so far {', '.join(known)}",) if known else ()
    return (f"{sign_of(op) or op.name} takes ({parameters})", *so_far)


# --- results


def _result(state: State, node: Term, op: Operator, found: Signature, meaning: Meaning) -> Type:
    elements = {name: state.unifier.resolved_element(of) for name, of in meaning.elements.items()}
    # What sums numbers of a 16-bit type may give float32: the operator is asked, as it is for integers.
    usual = all(isinstance(of, DType) and of.is_float and not of.is_half for of in elements.values())
    results, unknown = [], []
    for at, result in enumerate(found.results):
        of = meaning.of(result)
        assert isinstance(of, TensorType)
        if at in found.asked and not usual:
            follows = of.element
            of = TensorType(state.unifier.element(), of.dims)
            unknown.append((at, of.element, follows))
        results.append(of)
    if unknown or op.conditions or not usual:
        call = OperatorCall(node, op, meaning.dims, dict(elements), tuple(unknown), state.within, len(state.around))
        state.calls.append(call)
    return results[0] if len(results) == 1 else TupleType(tuple(results))


def settle_calls(state: State, *, final_from: int | None = None) -> None:
    """Find the element types of results that wait for those of arguments, and what operators demand of their sizes.

    For calls inside so many functions it is the last time: an element type that nothing tells is then one of the
    floats, if results follow it among those.
    """
    waiting, state.calls = state.calls, []
    for call in waiting:
        final = final_from is not None and call.depth >= final_from
        if not _settled(state, call, final=final):
            state.calls.append(call)


def _settled(state: State, call: OperatorCall, *, final: bool) -> bool:
    elements = {name: state.unifier.resolved_element(of) for name, of in call.elements.items()}  # type: ignore[arg-type]
    types = {name: of for name, of in elements.items() if isinstance(of, DType)}
    if len(types) == len(elements):
        _known(state, call, types)
    elif final and not call.results:
        pass
    elif not final or not _guessed(state, call, elements):
        return False
    return not call.operator.conditions or _conditions_hold(state, call, final=final)


def _known(state: State, call: OperatorCall, types: dict[str, DType]) -> None:
    why = refuses(call.operator, types)
    if why:
        _complain(state, call, why)
        return
    for at, unknown, _ in call.results:
        _same(state, call, unknown, result_element(call.operator, at, types))


def _guessed(state: State, call: OperatorCall, elements: dict[str, Element]) -> bool:
    """Results of element types that vary: what they follow at every type, or among the floats."""
    for at, unknown, among_floats in call.results:
        always = followed_by(call.operator, at)
        if isinstance(always, ElementVariable):
            _same(state, call, unknown, elements[always.name])
        elif always is not None:
            _same(state, call, unknown, always)
        else:
            for of in elements.values():
                _floats(state, call, of)
            _same(state, call, unknown, among_floats)
    return True


def _floats(state: State, call: OperatorCall, of: Element) -> None:
    try:
        state.unifier.narrow(of, _FLOATS)
    except Mismatch:
        names = state.unifier.resolved_element(of)
        message = f"{call.operator.name}: what it gives for {names} depends on which type that is"
        _complain(state, call, message, f"declare it among the floats: <{names}: floats>")


def _same(state: State, call: OperatorCall, a: object, b: object) -> None:
    try:
        state.unifier.elements(a, b)  # type: ignore[arg-type]
    except Mismatch:
        left, right = map(state.unifier.resolved_element, (a, b))  # type: ignore[arg-type]
        _complain(
            state, call, f"{call.operator.name}: its result is of type {right}: expected {left} but found {right}"
        )


def _complain(state: State, call: OperatorCall, message: str, fix: str = "") -> None:
    outer, state.within = state.within, call.within
    state.complain(call.node, message, fix)
    state.within = outer


def _conditions_hold(state: State, call: OperatorCall, *, final: bool) -> bool:
    """Whether the operator's conditions are decided; those that only a run can decide, the operator checks itself."""
    sizes = {name: state.unifier.resolved_dimension(dim).constant for name, dim in call.sizes.items()}
    known = {name: value for name, value in sizes.items() if value is not None}
    for condition in call.operator.conditions:
        try:
            holds = fold(condition.expr, known)
        except KeyError:
            if not final:
                return False
            continue
        if not holds:
            given = ", ".join(f"{name} = {value}" for name, value in known.items() if name in show(condition.expr))
            message = f"{call.operator.name}: {show(condition.expr)} does not hold for {given}: {condition.reason}"
            _complain(state, call, message)
    return True
