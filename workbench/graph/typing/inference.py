"""Inference: the type of every node of a model (Damas and Milner's algorithm, with dimension equations)."""

from __future__ import annotations

from workbench.graph.terms.dimensions import dimension
from workbench.graph.terms.nodes import (
    Call,
    Constant,
    Constructor,
    Function,
    Global,
    If,
    Let,
    Match,
    NewReference,
    Primitive,
    Projection,
    ReadReference,
    Term,
    Tuple,
    Variable,
    WriteReference,
)
from workbench.graph.terms.types import (
    UNIT,
    FunctionType,
    ReferenceType,
    Scheme,
    TensorType,
    TupleType,
    Type,
    TypeVariable,
)
from workbench.graph.terms.walking import Steps
from workbench.graph.text.cursor import unknown_word
from workbench.graph.typing.annotations import check_annotation
from workbench.graph.typing.exhaustiveness import missing
from workbench.graph.typing.functions import Entered, enter, leave
from workbench.graph.typing.known_calls import operator_call
from workbench.graph.typing.operator_calls import operator_type
from workbench.graph.typing.patterns import bind_anything, bind_pattern, constructor_type
from workbench.graph.typing.schemes import instance
from workbench.graph.typing.state import State, described
from workbench.lang.dtypes import BOOL, DTYPES, from_numpy
from workbench.wording import number_of

_CONDITION = TensorType(BOOL)


class Inference:
    """Goes through terms; what it finds is in `state`.  Its methods are recursions for `walking.run`."""

    def __init__(self, state: State) -> None:
        self.state = state

    def infer(self, term: Term) -> Steps[Type]:
        """The type of one use of a term; each node is looked at once."""
        state = self.state
        match term:
            case Variable():
                return self._variable(term)
            case Global(name):
                if name in state.schemes:
                    return instance(state.unifier, state.schemes[name])
                state.complain(term, unknown_word("function", name, state.functions))
                return state.unifier.type()
            case Primitive(operator):
                return operator_type(state, term, operator)
            case Constructor(name):
                return constructor_type(state, name) or self._unknown_constructor(term)
        if term not in state.types:
            state.types[term] = state.unifier.type()  # of a node that is inside itself, which no finite term is
            state.types[term] = yield self._infer(term)
        return state.types[term]

    def _variable(self, term: Variable) -> Type:
        scheme = self.state.environment.get(term)
        if scheme is None:
            self.state.complain(term, f"{term.name} is used where nothing has bound it")
            return self.state.unifier.type()
        return instance(self.state.unifier, scheme)

    def _unknown_constructor(self, term: Constructor) -> Type:
        self.state.complain(term, unknown_word("constructor", term.name, self.state.datatypes.constructors))
        return self.state.unifier.type()

    def _infer(self, term: Term) -> Steps[Type]:
        match term:
            case Constant(array):
                of = from_numpy(array.dtype)
                if of is None:
                    known = ", ".join(DTYPES)
                    self.state.complain(term, f"a constant has dtype {array.dtype}; known: {known}")
                    return self.state.unifier.type()
                return TensorType(of, tuple(map(dimension, array.shape)))
            case Call():
                return (yield self._call(term))
            case Function():
                scheme = yield self.function(term)
                return instance(self.state.unifier, scheme)
            case Let():
                return (yield self._let(term))
            case Tuple(items):
                found: list[Type] = []
                for item in items:
                    found.append((yield self.infer(item)))
                return TupleType(tuple(found))
            case Projection():
                return (yield self._projection(term))
            case If():
                return (yield self._condition(term))
            case Match():
                return (yield self._match(term))
            case NewReference(value):
                return ReferenceType((yield self.infer(value)))
            case ReadReference(reference):
                return (yield self._reference(term, reference))
            case WriteReference(reference, value):
                of = yield self._reference(term, reference)
                found_value = yield self.infer(value)
                self.state.unify(term, of, found_value, "what is written to a reference")
                return UNIT
        raise AssertionError(term)

    # --- calls

    def _call(self, node: Call) -> Steps[Type]:
        function = None
        if not isinstance(node.function, Primitive):
            function = yield self.infer(node.function)
        arguments: list[Type] = []
        for argument in node.arguments:
            arguments.append((yield self.infer(argument)))
        if isinstance(node.function, Primitive):
            return operator_call(self.state, node, node.function.operator, tuple(arguments))
        if node.sizes:
            name = node.sizes[0][0]
            self.state.complain(node, f"only operators take sizes by name, not {described(node.function)}: {name}=...")
        assert function is not None
        return self._applied(node, function, arguments)

    def _applied(self, node: Call, function: Type, arguments: list[Type]) -> Type:
        state, callee = self.state, described(node.function)
        head = state.unifier.head(function)
        if isinstance(head, TypeVariable) and head.name.startswith("?"):
            result = state.unifier.type()
            state.unify(node, head, FunctionType(tuple(arguments), result), f"the call of {callee}")
            return result
        if not isinstance(head, FunctionType):
            state.complain(node, f"{callee} is no function: expected a function but found {state.shown(head)}")
            return state.unifier.type()
        wanted = len(head.parameters)
        if wanted != len(arguments):
            counted = number_of(wanted, "argument")
            state.complain(node, f"{callee} takes {counted}: expected {wanted} but found {len(arguments)}")
            return head.result
        for at, (parameter, argument) in enumerate(zip(head.parameters, arguments, strict=True)):
            given = node.arguments[at]
            place = given if given.span > node.span else node
            if not state.unify(place, parameter, argument, f"{callee}: argument {at + 1}"):
                break
        return head.result

    # --- functions and names

    def function(self, node: Function, name: Variable | None = None) -> Steps[Scheme]:
        """The scheme of a function; one with a name may call itself, and is generalised."""
        entered: Entered = enter(self.state, node, name)
        found = yield self.infer(node.body)
        return leave(self.state, node, entered, found, named=name is not None)

    def _let(self, node: Let) -> Steps[Type]:
        state, variable = self.state, node.variable
        if isinstance(node.value, Function) and node.value not in state.types:
            scheme = yield self.function(node.value, variable)
            state.types[node.value] = scheme.type
        else:
            scheme = Scheme((), (yield self.infer(node.value)))
            state.monomorphic.append(variable)
        if variable.type is not None and check_annotation(state, node, variable.type):
            state.unify(node, variable.type, scheme.type, f"the value of {variable.name}")
        state.environment[variable] = scheme
        state.types[variable] = scheme.type
        return (yield self.infer(node.body))

    def _projection(self, node: Projection) -> Steps[Type]:
        state = self.state
        of = state.unifier.head((yield self.infer(node.tuple)))
        if isinstance(of, TupleType) and 0 <= node.index < len(of.items):
            return of.items[node.index]
        if isinstance(of, TupleType):
            items = len(of.items)
            state.complain(node, f"the tuple has {items} items, .0 to .{items - 1}: there is no .{node.index}")
        elif isinstance(of, TypeVariable) and of.name.startswith("?"):
            fix = "write the type of the parameter that it comes from"
            state.complain(node, f"nothing says here what .{node.index} is an item of", fix)
        else:
            state.complain(node, f".{node.index} is an item of a tuple: expected a tuple but found {state.shown(of)}")
        return state.unifier.type()

    # --- control flow

    def _condition(self, node: If) -> Steps[Type]:
        test = yield self.infer(node.condition)
        place = node if isinstance(node.condition, Variable) else node.condition
        self.state.unify(place, _CONDITION, test, "the condition of an if")
        then = yield self.infer(node.then)
        otherwise = yield self.infer(node.otherwise)
        self.state.unify(node, then, otherwise, "the branches of an if have one type")
        return then

    def _match(self, node: Match) -> Steps[Type]:
        state = self.state
        value = yield self.infer(node.value)
        result = state.unifier.type()
        fits = True
        for at, clause in enumerate(node.clauses):
            if not bind_pattern(state, node, clause.pattern, value):
                bind_anything(state, clause.pattern)
                fits = False
            found = yield self.infer(clause.body)
            place = node if isinstance(clause.body, Variable) else clause.body
            state.unify(place, result, found, f"the cases of a match have one type, case {at + 1}")
        if fits:
            self._check_cover(node, value)
        return result

    def _check_cover(self, node: Match, value: Type) -> None:
        patterns = [clause.pattern for clause in node.clauses]
        found = missing(patterns, self.state.unifier.resolved(value), self.state.datatypes)
        if found is not None:
            fix = f"add a case: {found} => ..."
            self.state.complain(node, f"the match does not cover every value: nothing fits {found}", fix)

    def _reference(self, node: Term, reference: Term) -> Steps[Type]:
        """The type of what a reference holds."""
        found = yield self.infer(reference)
        of = self.state.unifier.type()
        self.state.unify(node, ReferenceType(of), found, "a reference is needed")
        return of
