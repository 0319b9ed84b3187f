"""The graph of a model, read off its terms: functions that do not call themselves stand open where they are called."""

from __future__ import annotations

from workbench.graph.forms.scopes import Scope, Scopes, scopes
from workbench.graph.models import Model
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
from workbench.graph.terms.types import Type
from workbench.graph.terms.walking import operands, postorder
from workbench.graph.text.literals import print_scalar
from workbench.graph.text.printing_types import print_dimension, print_type
from workbench.records import record
from workbench.viz.views.models.graph_words import module_path, pattern_text, shape_of
from workbench.viz.views.models.model_graph import GraphEdge, GraphNode, Kind, ModelGraph, Path

MOST_CALLS = 4000
"""Calls that functions may be opened to; what is called after that stays closed."""


@record(slots=True)
class Source:
    """Where a value comes from: a node, and which item of its result; or a constant, in words; or a tuple's items."""

    node: str = ""
    item: str = ""
    constant: str = ""
    items: tuple[Source, ...] = ()

    @property
    def constants(self) -> tuple[str, ...]:
        """The constants in it."""
        return (self.constant,) * bool(self.constant) + tuple(c for item in self.items for c in item.constants)


def model_graph(model: Model) -> ModelGraph:
    """The graph of a model: its entry, and beside it the functions that call themselves or are values."""
    reader = _Reader(model)
    reader.draw(model.entry)
    for name in list(model.functions):
        if name in reader.closed and name not in reader.drawn:
            reader.draw(name)
    of = print_type(model.type_of(model.entry))
    return ModelGraph(f"{model.entry}: {of}", tuple(reader.nodes), tuple(reader.edges))


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
        found = _Body(self, function.body, {**known}, path).read()
        end = self.add("result", "result" if not path else f"result of {name}", path, self.types.get(function.body))
        self.link(found[function.body], end)

    def link(self, source: Source, target: str, words: str = "") -> None:
        """An edge from each node that a value comes from; the same value twice is one edge."""
        for item in source.items:
            self.link(item, target, words)
        if not source.node:
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
                alone = Source(found.node, f"{found.item}.{index}", found.constant)
                return found.items[index] if found.items else alone
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
        return _Body(reader, function.body, {**given}, inside).read()[function.body]

    def _other(self, node: Term) -> Source:
        match node:
            case Tuple(items):
                return Source(items=tuple(self.known[item] for item in items))
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
        details = tuple(f"with {constant}" for source in sources for constant in source.constants)
        if isinstance(node, Call) and node.sizes:
            details += (", ".join(f"{size} = {print_dimension(of)}" for size, of in node.sizes),)
        of = self.reader.types.get(node)
        own = self.reader.add(kind, name, (*self.place(node), *modules), of, label, details, calls)
        for number, source in enumerate(sources):
            self.reader.link(source, own, words[number] if words else "")
        return Source(own)
