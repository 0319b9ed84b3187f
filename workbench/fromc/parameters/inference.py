"""What a loop nest uses and nobody declares: sizes, arrays typed from their subscripts, scalars."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pycparser import CParser, c_ast

from workbench.fromc.numbers.intervals import Bounds, Interval, c_bounds, interval_hull, written
from workbench.fromc.text.functions import function_of
from workbench.fromc.text.literals import CONSTANTS
from workbench.fromc.text.syntax import Unit, below

_WHOLE = frozenset({"%", "&", "|", "^", "<<", ">>"})
_COMPARED = frozenset({"<", "<=", ">", ">=", "==", "!="})


@dataclass
class Use:
    """How one name is used: the node that names it first, the subscripts it is given, whether it is a whole number."""

    node: Any
    subscripts: list[tuple[Interval | None, ...]] = field(default_factory=list)
    whole: bool = False


def inferred(unit: Unit, items: list[Any], declared: set[str]) -> list[tuple[str, Any]]:
    """Declarations for the names that a nest uses and that nobody declares, each with the node that needs it.

    A name with subscripts is an array as large as they reach, of int where it stands in a subscript or a bound and of
    double elsewhere; a name that stands there itself is an int; any other is a double.
    """
    known = {*declared, *unit.source.defines, *unit.constants, *CONSTANTS, *unit.types}
    collector = _Collector(known)
    for item in items:
        collector.visit(item, {}, whole=False)
    found = [(_declaration(name, use), use.node) for name, use in collector.uses.items()]
    return sorted(found, key=lambda pair: "[" in pair[0])


def _declaration(name: str, use: Use) -> str:
    kind = "int" if use.whole else "double"
    if not use.subscripts:
        return f"{kind} {name};"
    rank = max(map(len, use.subscripts))
    extents = []
    for axis in range(rank):
        reached = [s[axis] for s in use.subscripts if len(s) > axis]
        high = None if None in reached else interval_hull([s.high for s in reached if s is not None], upper=True)
        extents.append(f"{name}_{axis}" if high is None else written(high, 1))
    return f"{kind} {name}{''.join(f'[{e}]' for e in extents)};"


def declaration_node(text: str, at: Any) -> Any:
    """A declaration as a tree, as if it stood where a node stands."""
    (node,) = CParser().parse(text).ext
    for part in below(node):
        part.coord = at.coord
    return node


@dataclass
class _Collector:
    known: set[str]
    uses: dict[str, Use] = field(default_factory=dict)

    def visit(self, node: Any, bounds: Bounds, *, whole: bool) -> None:
        """Note the names below a node; `bounds` are the loops around, `whole` says that an integer is expected."""
        match node:
            case c_ast.For():
                self.loop(node, bounds)
            case c_ast.Compound():
                inner = _Collector(set(self.known), self.uses)
                for item in node.block_items or ():
                    inner.visit(item, bounds, whole=False)
            case c_ast.Decl():
                for _, child in node.children():
                    self.visit(child, bounds, whole=whole)
                self.known.add(node.name)
            case c_ast.ArrayRef():
                self.element(node, bounds, whole=whole)
            case c_ast.ID():
                self.note(node, whole=whole)
            case c_ast.FuncCall():
                self.call(node, bounds, whole=whole)
            case c_ast.BinaryOp(op=op) if op in _WHOLE:
                self.below(node, bounds, whole=True)
            case c_ast.BinaryOp(op=op) if op in _COMPARED:
                self.below(node, bounds, whole=whole or self.counts(node, bounds))
            case c_ast.StructRef(name=name):
                self.visit(name, bounds, whole=False)
            case c_ast.TypeDecl() | c_ast.Typename():
                return
            case _:
                self.below(node, bounds, whole=whole and not isinstance(node, c_ast.Assignment))

    def below(self, node: Any, bounds: Bounds, *, whole: bool) -> None:
        for _, child in node.children():
            self.visit(child, bounds, whole=whole)

    def call(self, node: Any, bounds: Bounds, *, whole: bool) -> None:
        """Arguments of functions of mathematics are no whole numbers; of the smaller of two they are what it is."""
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        found = function_of(name)
        for argument in node.args.exprs if node.args else ():
            self.visit(argument, bounds, whole=whole and found is not None and found.dtype is None)

    def counts(self, node: Any, bounds: Bounds) -> bool:
        """Whether a comparison is one of whole numbers: it has loop variables and no elements of arrays."""
        parts = list(below(node))
        names = [p.name for p in parts if isinstance(p, c_ast.ID)]
        plain = not any(isinstance(p, c_ast.ArrayRef | c_ast.FuncCall) for p in parts)
        return plain and any(n in bounds for n in names)

    def note(self, node: Any, *, whole: bool) -> Use | None:
        if node.name in self.known:
            return None
        use = self.uses.setdefault(node.name, Use(node))
        use.whole = use.whole or whole
        return use

    def element(self, node: Any, bounds: Bounds, *, whole: bool) -> None:
        subscripts: list[Any] = []
        while isinstance(node, c_ast.ArrayRef):
            subscripts.insert(0, node.subscript)
            node = node.name
        for subscript in subscripts:
            self.visit(subscript, bounds, whole=True)
        if isinstance(node, c_ast.ID):
            use = self.note(node, whole=whole)
            if use is not None:
                use.subscripts.append(tuple(c_bounds(s, bounds) for s in subscripts))
        else:
            self.visit(node, bounds, whole=False)

    def loop(self, node: Any, bounds: Bounds) -> None:
        """The head's names are whole numbers; inside, its variable lies between its first value and its bound."""
        name, first = _counter(node.init)
        inner = _Collector({*self.known, name} if name else set(self.known), self.uses)
        if first is not None:
            self.visit(first, bounds, whole=True)
        for part in (node.cond, node.next):
            if part is not None:
                inner.visit(part, bounds, whole=True)
        inner.visit(node.stmt, {**bounds, name: _range(node, name, first, bounds)}, whole=False)


def _counter(init: Any) -> tuple[str, Any]:
    match init:
        case c_ast.DeclList(decls=[c_ast.Decl(name=str(name), init=first), *_]):
            return name, first
        case c_ast.Assignment(lvalue=c_ast.ID(name=name), rvalue=first):
            return name, first
    return "", None


def _range(loop: Any, name: str, first: Any, bounds: Bounds) -> Interval | None:
    """Between which values the variable of a loop lies."""
    start = None if first is None else c_bounds(first, bounds)
    ends = [e for e in _ends(loop.cond, name) if e is not None]
    if start is None or not ends:
        return None
    op, node = ends[0]
    end = c_bounds(node, bounds)
    if end is None or op not in ("<", "<=", ">", ">=", "!="):
        return None
    if op in (">", ">="):
        return Interval(_moved(end.low, op == ">"), start.high)
    return Interval(start.low, _moved(end.high, -1 if op in ("<", "!=") else 0))


def _moved(value: dict[str, int] | None, by: int) -> dict[str, int] | None:
    return None if value is None else {**value, "": value.get("", 0) + by}


def _ends(node: Any, name: str) -> list[tuple[Any, Any]]:
    mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
    match node:
        case c_ast.BinaryOp(op="&&", left=left, right=right):
            return _ends(left, name) + _ends(right, name)
        case c_ast.BinaryOp(op=op, left=c_ast.ID(name=left), right=right) if left == name:
            return [(op, right)]
        case c_ast.BinaryOp(op=op, left=left, right=c_ast.ID(name=right)) if right == name:
            return [(mirrored.get(op, op), left)]
    return []
