"""The graph of a model, read off its terms: functions that do not call themselves stand open where they are called."""

from __future__ import annotations

import re

from workbench.graph.forms.scopes import Scope, Scopes, scopes
from workbench.graph.models import Model
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
    bound_by,
)
from workbench.graph.terms.types import DataType, TensorType, TupleType, Type
from workbench.graph.terms.walking import operands, postorder
from workbench.graph.text.literals import print_scalar
from workbench.graph.text.printing_types import print_dimension, print_type
from workbench.records import record
from workbench.viz.views.models.model_graph import GraphEdge, GraphNode, Kind, ModelGraph, Path

MOST_CALLS = 4000
"""Calls that functions may be opened to; what is called after that stays closed."""


@record(slots=True)
class Source:
    """Where a value comes from: a node, and which item of its result; or a constant, of which the type is said."""

    node: str = ""
    item: str = ""
    constant: str = ""


def model_graph(model: Model) -> ModelGraph:
    """The graph of a model: its entry, and beside it the functions that call themselves or are values."""
    reader = _Reader(model)
    reader.draw(model.entry)
    for name in list(model.functions):
        if name in reader.closed and name not in reader.drawn:
            reader.draw(name)
    of = print_type(model.type_of(model.entry))
    return ModelGraph(f"{model.entry}: {of}", tuple(reader.nodes), tuple(reader.edges))


def shape_of(of: Type | None) -> str:
    """A type in a few characters: `64×32×32`, its elements said where they are not float32.

    >>> from workbench.lang.dtypes import FLOAT32, INT64
    >>> from workbench.graph.terms.dimensions import dimension
    >>> shape_of(TensorType(FLOAT32, (dimension("n"), dimension(8)))), shape_of(TensorType(INT64))
    ('n×8', 'int64')
    """
    match of:
        case None:
            return ""
        case TensorType(element, dims):
            extents = "×".join(f"({d})" if re.search(r"\W", d) else d for d in map(print_dimension, dims))
            plain = str(getattr(element, "name", element))
            return extents if extents and plain == "float32" else f"{plain} {extents}".strip()
        case TupleType(items):
            return f"({', '.join(map(shape_of, items))})"
        case DataType(name, arguments):
            return f"{name}⟨{', '.join(map(shape_of, arguments))}⟩" if arguments else name
        case _:
            return print_type(of)


class _Reader:
    """Collects nodes and edges of function after function."""

    def __init__(self, model: Model) -> None:
        self.model, self.types = model, model.typing.types
        self.nodes: list[GraphNode] = []
        self.edges: list[GraphEdge] = []
        self.known_edges: set[tuple[str, str, str]] = set()
        self.closed: set[str] = set()
        self.drawn: set[str] = set()
        self.opened: dict[str, int] = {}
        self.recursive = _recursive(model)
        self.counts = {name: sum(isinstance(n, Call) for n in postorder(f)) for name, f in model.functions.items()}

    def add(
        self, kind: Kind, name: str, path: Path, of: Type | None, label: str = "", details: tuple[str, ...] = (),
        calls: tuple[Call, ...] = (),
    ) -> str:  # fmt: skip
        """A node; its id."""
        text = "" if of is None else print_type(of)
        made = GraphNode(f"n{len(self.nodes)}", kind, name, label, path, shape_of(of), text, details, calls)
        self.nodes.append(made)
        return made.id

    def draw(self, name: str) -> None:
        """A function by itself, with its parameters and its result."""
        self.drawn.add(name)
        function = self.model.functions[name]
        path = () if name == self.model.entry else (f"fn {name}",)
        known = {v: Source(self.add("input", v.name, path, self.types.get(v))) for v in function.parameters}
        found = _Body(self, function.body, dict(known), path).read()
        items = _items(function.body)
        end = self.add("result", "result" if not path else f"result of {name}", path, self.types.get(function.body))
        for item in items or [function.body]:
            self.link(found[item], end)

    def link(self, source: Source | None, target: str, words: str = "") -> None:
        """An edge, where the value comes from a node; the same value twice is one edge."""
        if source is None or not source.node:
            return
        edge = source.node, target, words or source.item
        if edge not in self.known_edges:
            self.known_edges.add(edge)
            self.edges.append(GraphEdge(*edge))

    def opens(self, name: str) -> bool:
        """Whether a function stands open where it is called."""
        return name not in self.recursive and len(self.nodes) + self.counts[name] < MOST_CALLS


def _recursive(model: Model) -> set[str]:
    """The functions that call themselves, by others or at once."""
    calls = {
        name: {n.name for n in postorder(f) if isinstance(n, Global)} for name, f in model.functions.items()
    }  # fmt: skip
    reached = {name: set(found) for name, found in calls.items()}
    for _ in calls:
        for found in reached.values():
            found |= {further for each in list(found) for further in reached[each]}
    return {name for name, found in reached.items() if name in found}


def _items(body: Term) -> list[Term]:
    while isinstance(body, Let):
        body = body.body
    return list(body.items) if isinstance(body, Tuple) else []


def module_path(label: str) -> Path:
    """The modules in the label of a call: all of it but the last part.

    >>> module_path("layers.0.conv2d"), module_path("/layer1/conv1/Conv")
    (('layers', '0'), ('layer1', 'conv1'))
    """
    parts = [part for part in re.split(r"[./]", label) if part]
    return tuple(parts[:-1])


class _Body:
    """Reads what stands in a body, node after node; `known` are the sources of what was read."""

    def __init__(self, reader: _Reader, body: Term, known: dict[Term, Source], path: Path) -> None:
        self.reader, self.body, self.known, self.path = reader, body, known, path
        self.scopes: Scopes = scopes(body)
        self.places: dict[Scope, Path] = {self.scopes.root: path}
        self.counts: dict[str, int] = {}
        self.binders: dict[Variable, tuple[Match, Pattern] | Function] = {}
        self.lets: dict[Variable, Term] = {}
        for node in self.scopes.home:
            self._note(node)

    def _note(self, node: Term) -> None:
        """What the variables of the body are bound by."""
        match node:
            case Match(_, clauses):
                self.binders |= {v: (node, c.pattern) for c in clauses for v in bound_by(c.pattern)}
            case Function(parameters):
                self.binders |= dict.fromkeys(parameters, node)
            case Let(variable, value, _):
                self.lets[variable] = value

    def read(self) -> dict[Term, Source]:
        """The sources of all that stands in it."""
        for node in postorder(self.body):
            if node not in self.known:
                self.known[node] = self._source(node)
        return self.known

    def place(self, node: Term) -> Path:
        """The path of a node: functions and branches."""
        scope = self.scopes.home.get(node, self.scopes.root)
        return self._place(scope)

    def inside(self, function: Function) -> Path:
        """The path of what stands in a local function."""
        return self._place(self.scopes.inner[function, 0])

    def _place(self, scope: Scope) -> Path:
        chain = []
        while scope not in self.places:
            chain.append(scope)
            assert scope.outer is not None
            scope = scope.outer
        for inner in reversed(chain):
            self.places[inner] = (*self.places[scope], self._branch(inner))
            scope = inner
        return self.places[scope]

    def _branch(self, scope: Scope) -> str:
        match scope.at:
            case If():
                name = "then" if scope.branch == 1 else "else"
            case Match(_, clauses):
                name = f"case {pattern_text(clauses[scope.branch - 1].pattern)}"
            case _:
                name = "local fn"
        self.counts[name] = self.counts.get(name, 0) + 1
        return name if self.counts[name] == 1 else f"{name} #{self.counts[name]}"

    def _source(self, node: Term) -> Source:
        match node:
            case Constant(array):
                large = f"{array.dtype.name}{list(array.shape)}"
                return Source(constant=large if array.ndim else print_scalar(array))
            case Variable():
                return self._variable(node)
            case Let(_, _, body):
                return self.known[body]
            case Projection(of, index):
                found = self.known[of]
                return Source(found.node, f"{found.item}.{index}", found.constant)
            case Call():
                return self._call(node)
            case Global(name):
                return Source(constant=f"fn {name}")
            case Primitive(operator):
                return Source(constant=operator.name)
            case Constructor(name):
                return Source(constant=name)
            case _:
                return self._other(node)

    def _variable(self, variable: Variable) -> Source:
        """A variable that a let binds is its value; a pattern, or a local function's parameter, is a node."""
        value = self.lets.get(variable)
        if value is not None:
            return self.known.get(value, Source(constant=variable.name))
        of, add = self.reader.types.get(variable), self.reader.add
        binder = self.binders.get(variable)
        if not isinstance(binder, tuple):
            inside = self.inside(binder) if binder is not None else self.path
            return Source(add("input", variable.name, inside, of))
        match, pattern = binder
        own = add("control", pattern_text(pattern), self.place(match), None)
        self.reader.link(self.known[match.value], own)
        self.known |= {each: Source(own, each.name) for each in bound_by(pattern)}
        return self.known[variable]

    def _call(self, call: Call) -> Source:
        match call.function:
            case Primitive(operator):
                return self._node(call, "call", operator.name, call.arguments, module_path(call.label), (call,))
            case Constructor(name):
                return self._node(call, "function", name, call.arguments)
            case Global(name) if self.reader.opens(name):
                return self._opened(call, name)
            case Global(name):
                self.reader.closed.add(name)
                return self._node(call, "function", f"{name}(…)", call.arguments)
            case callee:
                return self._node(call, "function", "call", (callee, *call.arguments))

    def _opened(self, call: Call, name: str) -> Source:
        reader, function = self.reader, self.reader.model.functions[name]
        count = reader.opened[name] = reader.opened.get(name, 0) + 1
        inside = (*self.place(call), name if count == 1 else f"{name} #{count}")
        given = dict(zip(function.parameters, (self.known[each] for each in call.arguments), strict=True))
        found = _Body(reader, function.body, dict(given), inside).read()
        items = _items(function.body)
        if not items:
            return found[function.body]
        own = reader.add("control", "tuple", inside, reader.types.get(call))
        for item in items:
            reader.link(found[item], own)
        return Source(own)

    def _other(self, node: Term) -> Source:
        match node:
            case Tuple(items):
                if node is self.body:
                    return Source()
                return self._node(node, "control", "tuple", items)
            case If():
                return self._node(node, "control", "if", operands(node), words=("condition", "then", "else"))
            case Match(_, clauses):
                words = ("value", *(pattern_text(clause.pattern) for clause in clauses))
                return self._node(node, "control", "match", operands(node), words=words)
            case Function(parameters):
                return self._node(node, "function", f"fn({', '.join(p.name for p in parameters)})", operands(node))
            case NewReference():
                return self._node(node, "control", "ref", operands(node))
            case ReadReference():
                return self._node(node, "control", "!", operands(node))
            case WriteReference():
                return self._node(node, "control", ":=", operands(node))
        raise AssertionError(node)

    def _node(
        self, node: Term, kind: Kind, name: str, takes: tuple[Term, ...], modules: Path = (),
        calls: tuple[Call, ...] = (), words: tuple[str, ...] = (),
    ) -> Source:  # fmt: skip
        label = getattr(node, "label", "")
        sources = [self.known[each] for each in takes]
        self.reader.closed |= {each.name for each in takes if isinstance(each, Global)}
        details = tuple(f"with {source.constant}" for source in sources if source.constant)
        if isinstance(node, Call) and node.sizes:
            details += (", ".join(f"{size} = {print_dimension(of)}" for size, of in node.sizes),)
        of = self.reader.types.get(node)
        own = self.reader.add(kind, name, (*self.place(node), *modules), of, label, details, calls)
        for number, source in enumerate(sources):
            self.reader.link(source, own, words[number] if words else "")
        return Source(own)


def pattern_text(pattern: Pattern) -> str:
    """A pattern as it is written."""
    match pattern:
        case Binder(variable):
            return variable.name
        case Construction(constructor, fields):
            return f"{constructor}({', '.join(map(pattern_text, fields))})" if fields else constructor
        case Items(items):
            return f"({', '.join(map(pattern_text, items))})"
        case _:
            return "_"
