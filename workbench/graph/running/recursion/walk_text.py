"""Functions of a model as functions of Python: control flow, data and cells as statements, segments as calls.

Each becomes a generator, which yields the generator of a function that it calls and is sent its value; a call in last
position is returned.  So recursion is as deep as memory allows, and loops need no memory.  The meaning is that of
`workbench.graph.evaluation.machine`, node by node in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from workbench.errors import ModelError
from workbench.graph.forms.scopes import Scope, Scopes, value_node
from workbench.graph.running.recording.segments import Segment
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
    Variable,
    WriteReference,
)
from workbench.graph.terms.types import TupleType, Type

DEEPEST = 60
"""Blocks inside one another; Python reads no more than a hundred."""
INDENT = "    "


class WalkWriter:
    """Writes the functions of a model; `objects` are what the text refers to by name.

    `foreign` are the functions that Python has, `sized` those whose dimensions are asked for when they run.  Segments
    are given the tensors of tuples one by one.
    """

    def __init__(self, foreign: Mapping[str, Any], sized: Iterable[Function], types: Mapping[Term, Type]) -> None:
        self.foreign, self.sized, self.types = foreign, frozenset(sized), types
        self.objects: dict[str, Any] = {}
        self.called: dict[str, None] = {}
        self.lines: list[str] = []
        self._names: dict[Any, str] = {}
        self._depth = 0
        self._sizes = "NO_SIZES"

    def function(self, name: str, function: Function, code: Scopes) -> None:
        """Write a function of the model."""
        self.code = code
        self._function(self.global_name(name), function, ", given=NO_SIZES")

    def global_name(self, name: str) -> str:
        """What a function of the model is called in the text."""
        self.called[name] = None
        return self._new(("function", name), f"walk_{name}")

    # --- names

    def _new(self, key: Any, wish: str) -> str:
        if key not in self._names:
            readable = "".join(c if c.isascii() and c.isalnum() else "_" for c in wish)
            self._names[key] = f"{readable}_{len(self._names)}"
        return self._names[key]

    def _object(self, what: Any, wish: str) -> str:
        """The name of something that the text cannot spell."""
        name = self._new(("object", id(what)), wish)
        self.objects[name] = what
        return name

    def _own(self, term: Term) -> str:
        """Where the value of a node or variable is kept."""
        return self._new(term, getattr(term, "name", "") or "v")

    def _value(self, term: Term) -> str:
        term = value_node(term)
        match term:
            case Constant(array):
                return self._object(array, "constant")
            case Global(name) if name in self.foreign:
                return self._object(self.foreign[name], f"foreign_{name}")
            case Global(name):
                return f"closure({self.global_name(name)}, {name!r})"
            case Primitive(operator):
                return self._object(operator, operator.name)
            case Constructor(name):
                return f"Maker({name!r})"
            case _:
                return self._own(term)

    def _values(self, terms: Iterable[Term]) -> str:
        return "".join(f", {self._value(term)}" for term in terms)

    def _leaves(self, term: Term) -> Iterator[str]:
        """The tensors in a value that is tensors in tuples."""
        return _leaves(self.types.get(value_node(term)), self._value(term))

    # --- lines

    def _line(self, text: str) -> None:
        self.lines.append(INDENT * self._depth + text)

    def _inside(self, write: Callable[[], Any]) -> Any:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ModelError(f"a model with more than {DEEPEST} blocks inside one another is interpreted")
        found = write()
        self._depth -= 1
        return found

    def _function(self, name: str, function: Function, more: str = "") -> None:
        own = "".join(f", {self._own(each)}" for each in function.parameters)
        self._line(f"def {name}(agenda{own}{more}):")
        around = self._sizes
        self._inside(lambda: self._body(function, own, more))
        self._sizes = around

    def _body(self, function: Function, own: str, more: str) -> None:
        outer = "given" if more else self._sizes
        if function in self.sized:
            self._sizes = self._new(("sizes", function), "sizes")
            self._line(f"{self._sizes} = sizes_of({self._object(function, 'function')}, {outer}{own})")
        elif more:
            self._sizes = "NO_SIZES"
        self._block(self.code.inner[function, 0], function.body, None)
        self._line("yield")  # a function with this word in it is a generator, wherever that stands

    def _block(self, scope: Scope, result: Term, into: str | None) -> None:
        """A block; its result is returned, or kept under a name."""
        nodes = self.code.blocks[scope]
        for at, node in enumerate(nodes):
            is_last = into is None and at == len(nodes) - 1 and value_node(result) is node
            if self._node(node, is_last=is_last):
                return
        self._line(f"return {self._value(result)}" if into is None else f"{into} = {self._value(result)}")

    # --- nodes

    def _node(self, node: Any, *, is_last: bool) -> bool:
        """The lines of a node; whether they return its value, which is the block's."""
        match node:
            case Segment(_, inputs, outputs, _):
                given = "".join(f", {leaf}" for each in inputs for leaf in self._leaves(each))
                call = f"{self._object(node, 'segment')}(agenda, {self._sizes}{given})"
                self._line("".join(f"{self._own(each)}, " for each in outputs) + f"= {call}" if outputs else call)
            case Call():
                return self._call(node, is_last=is_last)
            case Let(variable, bound, _):
                self._line(f"{self._own(variable)} = {self._value(bound)}")
            case Tuple(items):
                self._line(f"{self._own(node)} = ({''.join(self._value(each) + ', ' for each in items)})")
            case Projection(of, index):
                self._line(f"{self._own(node)} = {self._value(of)}[{index}]")
            case Function():
                name = self._new(("function", node), "local")
                self._function(name, node)
                self._line(f"{self._own(node)} = closure({name}, {len(node.parameters)})")
            case If() | Match():
                self._branches(node, is_last=is_last)
                return is_last
            case NewReference(initial):
                self._line(f"{self._own(node)} = Cell({self._value(initial)})")
            case ReadReference(reference):
                self._line(f"{self._own(node)} = {self._value(reference)}.value")
            case WriteReference(reference, new):
                self._line(f"{self._own(node)} = agenda.write({self._value(reference)}, {self._value(new)})")
        return False

    def _call(self, node: Call, *, is_last: bool) -> bool:
        own, function = self._own(node), value_node(node.function)
        match function:
            case Constructor(name):
                self._line(f"{own} = Data({name!r}, ({''.join(self._value(each) + ', ' for each in node.arguments)}))")
                return False
            case Global(name) if name not in self.foreign:
                call = f"{self.global_name(name)}(agenda{self._values(node.arguments)})"
                self._line(f"return {call}" if is_last else f"{own} = yield {call}")
                return is_last
        given = f"agenda, {self._object(node, 'call')}, {self._sizes}, {self._value(function)}"
        call = f"begin({given}{self._values(node.arguments)})"
        if is_last:
            self._line(f"return {call}")
            return True
        self._line(f"{own} = {call}")
        self._line(f"if type({own}) is Generator: {own} = yield {own}")
        return False

    def _branches(self, node: If | Match, *, is_last: bool) -> None:
        into = None if is_last else self._own(node)
        if isinstance(node, If):
            self._line(f"if bool(plain({self._value(node.condition)})):")
            self._inside(lambda: self._block(self.code.inner[node, 1], node.then, into))
            self._line("else:")
            self._inside(lambda: self._block(self.code.inner[node, 2], node.otherwise, into))
            return
        found = self._new(("matched", node), "matched")
        self._line(f"{found} = {self._value(node.value)}")
        for at, clause in enumerate(node.clauses, 1):
            tests, bound = _tests(clause.pattern, found)
            self._line(f"{'if' if at == 1 else 'elif'} {' and '.join(tests) or True}:")
            self._inside(lambda: self._clause(node, at, bound, into))  # noqa: B023  (called at once)
        self._line("else:")
        self._inside(lambda: self._line(f"raise CallError(f'no case of the match fits {{{found}!r}}')"))

    def _clause(self, node: Match, at: int, bound: list[tuple[Variable, str]], into: str | None) -> None:
        for variable, place in bound:
            self._line(f"{self._own(variable)} = {place}")
        self._block(self.code.inner[node, at], node.clauses[at - 1].body, into)


def _leaves(of: Type | None, place: str) -> Iterator[str]:
    if isinstance(of, TupleType):
        for at, item in enumerate(of.items):
            yield from _leaves(item, f"{place}[{at}]")
    else:
        yield place


def _tests(pattern: Pattern, place: str) -> tuple[list[str], list[tuple[Variable, str]]]:
    """What must be true where a pattern fits the value of a place, in order, and what its variables are there."""
    tests: list[str] = []
    bound: list[tuple[Variable, str]] = []
    stack = [(pattern, place)]
    while stack:
        pattern, place = stack.pop()
        match pattern:
            case Binder(variable):
                bound.append((variable, place))
            case Construction(name, fields):
                tests.append(f"{place}.constructor == {name!r}")
                stack += [(field, f"{place}.fields[{at}]") for at, field in reversed(list(enumerate(fields)))]
            case Items(items):
                stack += [(item, f"{place}[{at}]") for at, item in reversed(list(enumerate(items)))]
            case _:
                pass
    return tests, bound
