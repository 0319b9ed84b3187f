"""The parameters of a C function: sizes, numbers, arrays."""

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from workbench.fromc.numbers.values import Values
from workbench.fromc.numbers.wraparound import SYMBOLS, span_of
from workbench.fromc.text.scope import Cells, Known, Scope
from workbench.fromc.text.types import common_type
from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.dtypes import INT32, INT64, DType
from workbench.lang.expr import Const, Expr, Index, Read, Size, size_names, walk
from workbench.lang.operator import For, Statement, Step, Tensor
from workbench.records import record


@record
class Parameter:
    """One parameter in C's order.

    `tensor` names what holds its data: an array (`extents` are its dimensions) or a number; empty for an integer that
    may shape the program.  `used` is False for what the function does not look at; `updated` says of a number that the
    caller sees it change, as the only element of an array; `restrict` that the text promises that nothing else names
    what the array holds.
    """

    name: str
    dtype: DType
    tensor: str
    extents: tuple[Expr, ...]
    used: bool
    c_type: str
    updated: bool = False
    restrict: bool = False

    @property
    def is_integer(self) -> bool:
        return not self.tensor

    @property
    def is_array(self) -> bool:
        return bool(self.extents) or self.updated


def declared(values: Values, nodes: list[Any], used: set[str]) -> list[Parameter]:
    """The parameters of some declarations, each given its meaning in the scope; integers before arrays."""
    found: dict[int, Parameter] = {}
    nodes = [node for node in nodes if getattr(node, "name", None) or not _is_void(node)]
    in_extents = {name for node in nodes for name in _extent_names(node)}
    for late in (False, True):
        for place, node in enumerate(nodes):
            if isinstance(node, c_ast.EllipsisParam) or not getattr(node, "name", None):
                raise values.problem("a parameter needs a type and a name", node, "write int n")
            name = node.name
            if _is_void(node) or (name not in used and name not in in_extents and _is_list_of_words(node)):
                found[place] = Parameter(name, INT64, "", (), False, "void *")
            elif isinstance(node.type, c_ast.TypeDecl) != late:
                found[place] = _parameter(values, node, used=name in used or name in in_extents)
    more = [Parameter(name, INT32, "", (), True, "int") for name in values.scope.undeclared]
    return [*more, *(found[place] for place in sorted(found))]


def _is_void(node: Any) -> bool:
    """`(void)`, and pointers to nothing in particular, which no statement here can use."""
    kind = getattr(node, "type", None)
    while isinstance(kind, c_ast.PtrDecl):
        kind = kind.type
    names = getattr(getattr(kind, "type", None), "names", None)
    return names == ["void"]


def _is_list_of_words(node: Any) -> bool:
    """`char **argv` and `char *argv[]`, which no statement here can use."""
    depth, kind = 0, node.type
    while isinstance(kind, c_ast.PtrDecl | c_ast.ArrayDecl):
        depth, kind = depth + 1, kind.type
    return depth == 2 and getattr(getattr(kind, "type", None), "names", None) == ["char"]


def _extent_names(node: Any) -> list[str]:
    names: list[str] = []
    kind = getattr(node, "type", None)
    while isinstance(kind, c_ast.ArrayDecl | c_ast.PtrDecl):
        dim = getattr(kind, "dim", None)
        names += [] if dim is None else _ids(dim)
        kind = kind.type
    return names


def _ids(node: Any) -> list[str]:
    own = [node.name] if isinstance(node, c_ast.ID) else []
    return own + [name for _, child in node.children() for name in _ids(child)]


def _parameter(values: Values, node: Any, *, used: bool) -> Parameter:
    scope, name = values.scope, node.name
    if name in values.unit.source.defines:
        raise values.problem(f"{name} is a macro; it cannot be declared", node, "choose another name")
    if scope.find(name) is not None:
        raise values.problem(f"{name} is declared twice", node, "choose another name")
    if getattr(node, "init", None) is not None:
        raise values.problem(f"{name} is declared outside the function with a value", node, "declare it inside")
    extents, kind = _extents(values, node)
    dtype = scope.element(kind.type) if isinstance(kind, c_ast.TypeDecl) else None
    if dtype is None:
        what = "a pointer to pointers" if isinstance(kind, c_ast.PtrDecl) else _what(kind)
        fix = f"expected numbers and arrays of them: double {name}[n][m]"
        raise values.problem(f"{name} is {what}", node, fix)
    if not extents and dtype.is_integral and name not in scope.assigned:
        return _integer(scope, name, dtype, used=used)
    updated = name in scope.updated
    if not extents and name in scope.assigned and not updated:
        raise values.problem(f"the parameter {name} is changed, which its caller does not see", node,
                             "change a local copy of it")  # fmt: skip
    tensor = scope.fresh(name)
    lower = tuple(Const(0, INT32) for _ in extents)
    scope.tensors[tensor] = Tensor(tensor, dtype, lower, tuple(extents), "input")
    scope.declare(name, Cells(tensor, dtype, (), len(extents)))
    is_used, restrict = used or bool(extents), _restricts(node.type)
    return Parameter(name, dtype, tensor, tuple(extents), is_used, dtype.c_name, updated, restrict)


def _what(kind: Any) -> str:
    """What a declaration that is not read says of its type."""
    inner = getattr(kind, "type", None)
    for node, word in ((c_ast.Struct, "struct"), (c_ast.Union, "union"), (c_ast.Enum, "enum")):
        if isinstance(inner, node):
            return f"a {word}{f' {inner.name}' if inner.name else ''}: its parts are not read"
    return "of a type that is not read"


def _integer(scope: Scope, name: str, dtype: DType, *, used: bool) -> Parameter:
    symbol = scope.fresh(name)
    scope.symbols.add(symbol)
    scope.spans[Size(symbol)] = span_of(dtype)
    scope.declare(name, Known(Size(symbol, common_type(dtype, INT32)), dtype))
    return Parameter(symbol, dtype, "", (), used, dtype.c_name)


def _extents(values: Values, node: Any) -> tuple[list[Expr], Any]:
    """The dimensions of an array parameter; a pointer, or `[]`, is as long as what it is given."""
    extents: list[Expr] = []
    kind = node.type
    while isinstance(kind, c_ast.ArrayDecl | c_ast.PtrDecl):
        dim = getattr(kind, "dim", None)
        if dim is None:
            if extents:
                break
            symbol = values.scope.fresh(f"{node.name}_length")
            values.scope.symbols.add(symbol)
            extents.append(Size(symbol))
        else:
            extents.append(_extent(values, node, dim))
        kind = kind.type
    return extents, kind


def _extent(values: Values, node: Any, dim: Any) -> Expr:
    unknown = isinstance(dim, c_ast.ID) and values.scope.find(dim.name) is None
    if unknown and values.unit.is_nest and dim.name not in values.unit.source.defines:
        _integer(values.scope, dim.name, INT32, used=True)
        values.scope.undeclared.append(dim.name)
    found = values.index(dim, f"an extent of {node.name}")
    if any(isinstance(part, Index | Read) for part in walk(found)):
        raise values.problem(f"an extent of {node.name} is not made of sizes", dim)
    _never_below_0(values.scope, found)
    return found


def _restricts(kind: Any) -> bool:
    """`double *restrict a`, `double a[restrict n]`."""
    return "restrict" in (*(getattr(kind, "quals", None) or ()), *(getattr(kind, "dim_quals", None) or ()))


def _never_below_0(scope: Scope, extent: Expr) -> None:
    """Extents are not negative: neither is a size that is one, nor what a positive multiple of is one."""
    terms = list(polynomial(extent).terms)
    if len(terms) == 1 and len(terms[0][0]) == 1 and terms[0][1] > 0 and isinstance(size := terms[0][0][0], Size):
        low, high = scope.spans.get(size, SYMBOLS)
        scope.spans[size] = max(low, 0), high


def used_symbols(scope: Scope, steps: tuple[Step, ...]) -> set[str]:
    """Integers that shape the program: they stand in extents, bounds, conditions or subscripts."""
    found = {n for t in scope.tensors.values() for e in (*t.extent, *t.lower) for n in size_names(e)}
    for step in steps:
        found |= _shaping(step)
    wide = {name for name in scope.symbols if scope.spans.get(Size(name), SYMBOLS)[1] > SYMBOLS[1]}
    return found | {name for step in steps for name in _whole(step) & wide} if wide else found


def _whole(step: Step) -> set[str]:
    """The integers that values take as whole numbers of 64 bits and a sign, whatever their type."""
    if isinstance(step, For):
        return set().union(*(_whole(s) for s in step.body))
    values = step.values if isinstance(step, Statement) else ()
    return {n.name for v in values for n in walk(v) if isinstance(n, Size) and n.dtype.kind == "int"}


def _shaping(step: Step) -> set[str]:
    match step:
        case For(axis, body):
            own = size_names(axis.lower) | size_names(axis.upper)
            return own.union(*(_shaping(s) for s in body))
        case Statement():
            roots = [e for t in step.targets for e in t.subscripts]
            roots += [e for v in step.values for n in walk(v) if isinstance(n, Read) for e in n.subscripts]
            roots += [] if step.condition is None else [step.condition]
            return set().union(*(size_names(e) for e in roots))
