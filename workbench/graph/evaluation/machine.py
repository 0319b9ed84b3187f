"""The machine of the interpreter: blocks of nodes, one dictionary of values for each call of a function, its own stack.

Each node is computed once in the scope that `forms.scopes` gives it.  Calls in last position leave no frame behind, and
recursion is as deep as memory allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.errors import CallError
from workbench.graph.evaluation.operators import in_order, inputs_of, typed
from workbench.graph.evaluation.sizes import Solver
from workbench.graph.evaluation.values import Cell, Data
from workbench.graph.forms.scopes import Scopes, scopes, value_node
from workbench.graph.terms.datatypes import Datatypes
from workbench.graph.terms.dimensions import shown, symbols
from workbench.graph.terms.dimensions import value_of as number_of
from workbench.graph.terms.nodes import (
    Binder,
    Call,
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
    WriteReference,
)
from workbench.graph.terms.types import FunctionType
from workbench.graph.terms.walking import operands, postorder
from workbench.graph.typing.programs import Typing
from workbench.graph.typing.state import Check, described
from workbench.lang.operator import Operator
from workbench.lang.oracle.evaluation import evaluate

Values = dict[Term, Any]
Run = Callable[..., Any]
_NOTHING = Constructor("")


@dataclass(eq=False)
class Activation:
    """One call of a function: the values of its nodes and variables, and of its dimensions where they are needed."""

    values: Values
    outer: Activation | None
    sizes: dict[str, int]


@dataclass(eq=False)
class Closure:
    """A function with what is around it; it can be called from Python as well."""

    function: Function
    outer: Activation | None
    code: Scopes
    machine: Machine

    def __call__(self, *arguments: Any) -> Any:
        """The function's value for values of a model (arrays, tuples, data)."""
        return self.machine.call(self, arguments, {})


@dataclass(eq=False)
class _Frame:
    """A block that is being computed; its result goes `into[target]`."""

    code: Scopes
    block: list[Term]
    result: Term
    activation: Activation
    into: Values
    target: Term
    at: int = 0


@dataclass(eq=False)
class Machine:
    """Evaluates the functions of a model; `run_operator` computes one call of an operator, `calls` some functions."""

    functions: dict[str, Function]
    datatypes: Datatypes
    typing: Typing
    run_operator: Run = evaluate
    calls: Mapping[str, Run] = field(default_factory=dict)
    codes: dict[str, Scopes] = field(default_factory=dict)
    checks: dict[Function, list[Check]] = field(default_factory=dict)
    sized: set[Function] = field(default_factory=set)
    solver: Solver = field(init=False)

    def __post_init__(self) -> None:
        self.solver = Solver(self.datatypes)
        for check in self.typing.checks:
            if check.function is not None:
                self.checks.setdefault(check.function, []).append(check)
        for function in self.functions.values():
            self.sized |= _sized(function)
        self.sized |= self.checks.keys()

    def named(self, name: str) -> Closure:
        """A function of the model as a value."""
        if name not in self.codes:
            self.codes[name] = scopes(self.functions[name])
        return Closure(self.functions[name], None, self.codes[name], self)

    def call(self, closure: Closure, arguments: tuple[Any, ...], sizes: dict[str, int]) -> Any:
        """The value of a function for arguments; sizes that no argument tells may be given."""
        into: Values = {}
        target = closure.function
        stack: list[_Frame] = []
        self._enter(stack, closure, arguments, into, target, sizes)
        self._run(stack)
        return into[target]

    def compute(self, code: Scopes, nodes: list[Term], activation: Activation) -> None:
        """Compute some nodes of a block, in their order; their values go among those of the activation."""
        self._run([_Frame(code, nodes, _NOTHING, activation, {}, _NOTHING)])

    def _run(self, stack: list[_Frame]) -> None:
        while stack:
            frame = stack[-1]
            if frame.at < len(frame.block):
                frame.at += 1
                self._step(stack, frame, frame.block[frame.at - 1])
            else:
                stack.pop()
                frame.into[frame.target] = self.value(frame.activation, frame.result, frame.code)

    # --- steps

    def value(self, activation: Activation, term: Term, code: Scopes) -> Any:
        """The value that a term has by now."""
        term = value_node(term)
        match term:
            case Constant(array):
                return array
            case Global(name):
                return self.calls[name] if name in self.calls else self.named(name)
            case Primitive(operator):
                return operator
            case Constructor(name):
                return lambda *fields: Data(name, fields)
        place: Activation | None = activation
        while place is not None:
            if term in place.values:
                return place.values[term]
            place = place.outer
        raise CallError(f"{described(term)} has no value here")

    def _step(self, stack: list[_Frame], frame: _Frame, node: Term) -> None:
        activation, code = frame.activation, frame.code
        values = activation.values

        def value(term: Term) -> Any:
            return self.value(activation, term, code)

        match node:
            case Call():
                self._call(stack, frame, node)
            case Let(variable, bound, _):
                values[variable] = value(bound)
            case Tuple(items):
                values[node] = tuple(map(value, items))
            case Projection(of, index):
                values[node] = value(of)[index]
            case Function():
                values[node] = Closure(node, activation, code, self)
            case If(condition, then, otherwise):
                branch, result = (1, then) if bool(value(condition)) else (2, otherwise)
                self._branch(stack, frame, node, branch, result)
            case Match(of, clauses):
                found = value(of)
                for at, clause in enumerate(clauses, 1):
                    if _fits(clause.pattern, found, values):
                        return self._branch(stack, frame, node, at, clause.body)
                raise CallError(f"no case of the match fits {found!r}")
            case NewReference(initial):
                values[node] = Cell(value(initial))
            case ReadReference(reference):
                values[node] = value(reference).value
            case WriteReference(reference, new):
                value(reference).value = value(new)
                values[node] = ()

    def _destination(self, stack: list[_Frame], frame: _Frame, node: Term) -> tuple[Values, Term]:
        """Where the value of a node goes that is a block itself; one in last position goes where its frame's would."""
        if frame.at == len(frame.block) and value_node(frame.result) is node:
            stack.pop()
            return frame.into, frame.target
        return frame.activation.values, node

    def _branch(self, stack: list[_Frame], frame: _Frame, node: Term, branch: int, result: Term) -> None:
        into, target = self._destination(stack, frame, node)
        block = frame.code.blocks[frame.code.inner[node, branch]]
        stack.append(_Frame(frame.code, block, result, frame.activation, into, target))

    def _call(self, stack: list[_Frame], frame: _Frame, node: Call) -> None:
        activation = frame.activation
        arguments = tuple(self.value(activation, each, frame.code) for each in node.arguments)
        function = self.value(activation, node.function, frame.code)
        if isinstance(function, Closure):
            into, target = self._destination(stack, frame, node)
            self._enter(stack, function, arguments, into, target, {})
        elif isinstance(function, Operator):
            activation.values[node] = self._operator(node, function, arguments, activation)
        else:
            activation.values[node] = function(*arguments)

    def _operator(self, node: Call, op: Operator, arguments: tuple[Any, ...], activation: Activation) -> Any:
        sizes = {name: self._size(activation, node, name, dim) for name, dim in node.sizes}
        names = inputs_of(op)
        given = dict(zip(names, arguments, strict=False))
        out = in_order(op, arguments[len(names) :]) if len(arguments) > len(names) else None
        try:
            return self.run_operator(typed(op, arguments), **given, **sizes, out=out)
        except CallError as error:
            label = f" ({node.label})" if node.label else ""
            raise CallError(f"in the call of {op.name}{label}: {error}") from None

    def _size(self, activation: Activation, node: Call, name: str, of: Any) -> int:
        missing = sorted(symbols(of) - activation.sizes.keys())
        if missing:
            raise CallError(
                f"in the call of {described(node.function)}: {name} = {shown(of)}, and no argument tells {missing[0]}"
            )
        return number_of(of, activation.sizes)

    # --- functions

    def _enter(
        self, stack: list[_Frame], closure: Closure, arguments: tuple[Any, ...], into: Values, target: Term,
        sizes: dict[str, int],
    ) -> None:  # fmt: skip
        function = closure.function
        if len(arguments) != len(function.parameters):
            names = ", ".join(each.name for each in function.parameters)
            counted = f"expected {len(function.parameters)} arguments ({names}) but found {len(arguments)}"
            raise CallError(f"a function of the model: {counted}")
        known = {**(closure.outer.sizes if closure.outer else {}), **sizes}
        if function in self.sized:
            known = self._sizes(function, arguments, known)
        values: Values = dict(zip(function.parameters, arguments, strict=True))
        activation = Activation(values, closure.outer, known)
        block = closure.code.blocks[closure.code.inner[function, 0]]
        stack.append(_Frame(closure.code, block, function.body, activation, into, target))

    def _sizes(self, function: Function, arguments: tuple[Any, ...], known: dict[str, int]) -> dict[str, int]:
        of = self.typing.types[function]
        assert isinstance(of, FunctionType)
        pairs = zip(function.parameters, arguments, of.parameters, strict=True)
        values = [(variable.name, value, kind) for variable, value, kind in pairs]
        return self.solver.sizes(values, known, self.checks.get(function, ()))


def _fits(pattern: Pattern, value: Any, values: Values) -> bool:
    """Whether a pattern fits a value; what it binds is put among the values."""
    stack = [(pattern, value)]
    while stack:
        pattern, value = stack.pop()
        match pattern:
            case Binder(variable):
                values[variable] = value
            case Construction(name, fields):
                if value.constructor != name:
                    return False
                stack += zip(fields, value.fields, strict=True)
            case Items(items):
                stack += zip(items, value, strict=True)
            case _:
                pass
    return True


def _sized(function: Function) -> set[Function]:
    """The functions in which a size is written that only a run tells: those that declare it, and all around."""
    found: set[Function] = set()
    inside: dict[Term, bool] = {}
    for node in postorder(function):
        own = isinstance(node, Call) and any(symbols(size) for _, size in node.sizes)
        inside[node] = own or any(inside[each] for each in operands(node))
        if isinstance(node, Function) and inside[node]:
            found.add(node)
    return found
