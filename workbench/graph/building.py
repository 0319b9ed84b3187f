"""Models built by programs: a type error is raised by the call that makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.errors import ModelError, shown
from workbench.graph.models import Model
from workbench.graph.terms.datatypes import DataDefinition, datatypes
from workbench.graph.terms.dimensions import Dimension, dimension
from workbench.graph.terms.nodes import (
    Call,
    Clause,
    Constant,
    Constructor,
    Function,
    Global,
    If,
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
    bound_by,
)
from workbench.graph.terms.types import Scheme, Type, variables_of
from workbench.graph.terms.walking import run
from workbench.graph.text.reading_one import read_dimension, read_type
from workbench.graph.typing.inference import Inference
from workbench.graph.typing.messages import raise_complaints
from workbench.graph.typing.patterns import bind_pattern
from workbench.graph.typing.schemes import declared, is_annotated, written_type
from workbench.graph.typing.state import State
from workbench.lang.operator import Operator
from workbench.ops.catalogue import load

Size = int | str | Dimension


class Builder:
    """Builds one function of a model, node by node.

    `functions` are others that it may call, `definitions` the data types that the model defines itself.  Whatever takes
    a term also takes an array or a number, which becomes a constant.

    >>> b = Builder()
    >>> x = b.parameter("x", "float32[n, 784]")
    >>> h = b.call("softmax", b.call("matmul", x, np.ones((784, 10), "float32")), label="scores")
    >>> b.type_of(h).dims[1].constant
    10
    """

    def __init__(
        self, name: str = "main", *, functions: Mapping[str, Function] | None = None,
        definitions: tuple[DataDefinition, ...] = (),
    ) -> None:  # fmt: skip
        self.name, self.definitions = name, definitions
        self.functions = dict(functions or {})
        self.parameters: list[Variable] = []
        self._bound: list[tuple[Variable, Term]] = []
        self._state = State(self.functions, datatypes(definitions))
        self._inference = Inference(self._state)
        for known, function in self.functions.items():
            if not is_annotated(function):
                raise ModelError(f"the function {known!r} must say its whole type to be called while a model is built")
            self._state.schemes[known] = Scheme(declared(function, ()), written_type(function))
        self._state.within = name

    # --- what a function is made of

    def parameter(self, name: str, of: str | Type) -> Variable:
        """A parameter of a type, given as text or as a value; dimensions it names are in scope from then on."""
        variable = self._variable(name, of)
        self.parameters.append(variable)
        return variable

    def constant(self, array: Any) -> Constant:
        """A constant of the model; the array must not be written to from then on."""
        return self._made(Constant(np.asarray(array)))

    def call(self, function: str | Operator | Term, /, *arguments: Any, label: str = "", **sizes: Size) -> Call:
        """A call of an operator (by name, of the library, or any other as a value), of a constructor or function.

        `sizes` are size symbols and integer scalars of the operator that no shape tells, such as strides: numbers, or
        arithmetic over dimensions in scope (`"2*k + 1"`).
        """
        callee = self._callee(function)
        given = tuple((name, _size(size)) for name, size in sizes.items())
        return self._made(Call(callee, tuple(map(self.term, arguments)), given, label))

    def let(self, name: str, value: Any) -> Variable:
        """A name for a value that is computed here, in order."""
        variable = Variable(name)
        term = self.term(value)
        of = run(self._inference.infer(term))
        self._state.environment[variable] = Scheme((), of)
        self._state.monomorphic.append(variable)
        self._bound.append((variable, term))
        self._check()
        return variable

    def tuple(self, *items: Any) -> Tuple:
        """A tuple."""
        return self._made(Tuple(tuple(map(self.term, items))))

    def project(self, of: Term, index: int) -> Projection:
        """An item of a tuple, such as one of an operator's several results."""
        return self._made(Projection(of, index))

    def condition(self, test: Any, then: Any, otherwise: Any) -> If:
        """`if test { then } else { otherwise }`; what only one branch uses is computed there only.

        A branch may be a function without parameters that makes it: lets that it gives then belong to the branch.
        """
        branches = [self._body(each) if callable(each) else self.term(each) for each in (then, otherwise)]
        return self._made(If(self.term(test), branches[0], branches[1]))

    def match(self, value: Term, *cases: tuple[Pattern, Callable[..., Any]]) -> Match:
        """`match value { ... }`: each case is a pattern and what makes its body of the variables that it binds."""
        of = run(self._inference.infer(value))
        clauses: list[Clause] = []
        for pattern, body in cases:
            probe = Match(value, (Clause(pattern, Tuple(())),))
            bind_pattern(self._state, probe, pattern, of)
            self._check()
            clauses.append(Clause(pattern, self._body(body, *bound_by(pattern))))
        return self._made(Match(value, tuple(clauses)))

    def function(self, parameters: Mapping[str, str | Type], body: Callable[..., Any]) -> Function:
        """A local function; `body` makes its body of the parameters."""
        variables = tuple(self._variable(name, of) for name, of in parameters.items())
        return self._made(Function(variables, self._body(body, *variables)))

    def new_reference(self, value: Any) -> NewReference:
        """`ref(value)`."""
        return self._made(NewReference(self.term(value)))

    def read(self, reference: Term) -> ReadReference:
        """`!reference`."""
        return self._made(ReadReference(reference))

    def write(self, reference: Term, value: Any) -> Variable:
        """`let _ = reference := value`."""
        return self.let("_", WriteReference(reference, self.term(value)))

    # --- results

    def result(self, value: Any) -> Function:
        """The function with this result, its lets around."""
        return Function(tuple(self.parameters), self._with_lets(self.term(value)))

    def model(self, value: Any) -> Model:
        """The model whose entry is the function with this result."""
        return Model({**self.functions, self.name: self.result(value)}, self.definitions)

    def type_of(self, term: Term) -> Type:
        """The type of a term, as far as it is known by now."""
        return self._state.unifier.resolved(run(self._inference.infer(term)))

    # --- inside

    def _body(self, make: Callable[..., Any], *variables: Variable) -> Term:
        """What a function of Python makes, with the lets that it gives around it."""
        outer, self._bound = self._bound, []
        try:
            return self._with_lets(self.term(make(*variables)))
        finally:
            self._bound = outer

    def _with_lets(self, body: Term) -> Term:
        for variable, bound in reversed(self._bound):
            body = Let(variable, bound, body)
        return body

    def term(self, value: Any) -> Term:
        """A term itself, or a constant of what is none."""
        if isinstance(value, _TERMS):
            return value
        if isinstance(value, str | Operator) or callable(value) or value is None:
            raise ModelError(f"expected a term, an array or a number but found {shown(value)}")
        return self.constant(value)

    def _callee(self, function: str | Operator | Term) -> Term:
        if isinstance(function, Operator):
            return Primitive(function)
        if not isinstance(function, str):
            return function
        if function in self._state.datatypes.constructors:
            return Constructor(function)
        return Global(function) if function in self.functions else Primitive(load(function))

    def _variable(self, name: str, of: str | Type) -> Variable:
        kind = read_type(of, self.definitions) if isinstance(of, str) else of
        variable = Variable(name, kind)
        self._state.environment[variable] = Scheme((), kind)
        self._state.monomorphic.append(variable)
        self._state.dims |= {each: None for each, what in variables_of(kind).items() if what == "dimension"}
        return variable

    def _made(self, node: Any) -> Any:
        run(self._inference.infer(node))
        self._state.settle()
        self._check()
        return node

    def _check(self) -> None:
        complaints = list(self._state.complaints)
        self._state.complaints.clear()
        raise_complaints(complaints)


def _size(of: Size) -> Dimension:
    return read_dimension(of) if isinstance(of, str) else dimension(of)


_TERMS = (
    Variable, Constant, Global, Primitive, Constructor, Call, Function, Let, Tuple, Projection, If, Match, NewReference,
    ReadReference, WriteReference,
)  # fmt: skip
