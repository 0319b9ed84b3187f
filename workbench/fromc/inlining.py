"""Calls of the text's own functions, replaced by what these do; constants by their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy, deepcopy
from dataclasses import replace
from typing import Any

from pycparser import c_ast

from workbench.fromc.numbers.constants import constants_of, is_scalar, without
from workbench.fromc.text.functions import function_of
from workbench.fromc.text.literals import character
from workbench.fromc.text.locals import assigned_names, identifiers_in
from workbench.fromc.text.syntax import Unit, below
from workbench.lang.syntax.diagnostics import Problem
from workbench.records import record
from workbench.wording import number_of

_FORMULA = "write a function of one expression: double f(double x) { return x * x; }"


def inlined(unit: Unit) -> Unit:
    """The unit with calls of the text's functions replaced by their bodies, and constants of the file by their values.

    A function that gives a value is a formula, perhaps with names for parts of it and conditions; one that gives none
    is a block, its parameters variables of the block or other names of the caller's arrays.  Raises Problem.
    """
    writer = _Inliner(unit, ())
    constants = {name: d for name, d in constants_of(unit).items() if is_scalar(d)}

    def changed(nodes: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(_with_values(writer.top(deepcopy(n)), constants) for n in without(nodes, constants))

    return replace(unit, parameters=changed(unit.parameters), declarations=changed(unit.declarations),
                   body=changed(unit.body))  # fmt: skip


def _with_values(node: Any, constants: dict[str, Any]) -> Any:
    """The node with the values of constants, each cast to its type."""

    def value(name: str, at: Any) -> Any:
        found = constants[name]
        inner = {n: d for n, d in constants.items() if n != name}
        return _cast(found.type, _with_values(deepcopy(found.init), inner), at.coord)

    return _mapped(node, {name: lambda at, name=name: value(name, at) for name in constants}) if constants else node


def _cast(kind: Any, value: Any, coord: Any) -> Any:
    plain = c_ast.TypeDecl(None, [], None, kind.type)
    return c_ast.Cast(c_ast.Typename(None, [], None, plain), value, coord)


def _mapped(node: Any, names: dict[str, Callable[[Any], Any]]) -> Any:
    """The tree with names replaced, where no declaration inside gives them another meaning."""
    if isinstance(node, c_ast.ID):
        return names[node.name](node) if node.name in names else node
    if isinstance(node, c_ast.Compound | c_ast.For):
        hidden = {d.name for d in _declared_by(node)}
        names = {name: change for name, change in names.items() if name not in hidden}
    for label, child in node.children():
        _put(node, label, _mapped(child, names))
    return node


def _declared_by(node: Any) -> Iterator[Any]:
    if isinstance(node, c_ast.For):
        yield from node.init.decls if isinstance(node.init, c_ast.DeclList) else ()
        return
    yield from (item for item in node.block_items or () if isinstance(item, c_ast.Decl))


def _put(node: Any, label: str, child: Any) -> None:
    """Replace a child of a node of pycparser by the label that `children` gives it."""
    name, bracket, place = label.partition("[")
    if bracket:
        getattr(node, name)[int(place[:-1])] = child
    else:
        setattr(node, name, child)


@record
class _Inliner:
    """Replaces calls below statements; `inside` are the functions being replaced."""

    unit: Unit
    inside: tuple[str, ...]

    def statement(self, node: Any) -> Any:
        """A statement without calls of the text's functions."""
        if isinstance(node, c_ast.Constant) and node.type == "char":
            if (number := character(node.value)) is None:
                raise self._problem(f"the character {node.value} is not read", node, "write its number")
            return c_ast.Constant("int", str(number), node.coord)
        if isinstance(node, c_ast.FuncCall) and (function := self._called(node)) is not None:
            return self._formula(node, function)
        match node:
            case c_ast.FuncCall(name=c_ast.ID(name="ceild"), args=c_ast.ExprList(exprs=[above, below])):
                return _rounded_up(self.statement(above), self.statement(below), node.coord)
        for label, child in node.children():
            is_effect = isinstance(node, c_ast.Compound | c_ast.For | c_ast.If) and label not in ("cond", "next")
            if is_effect and isinstance(child, c_ast.FuncCall) and (function := self._called(child)) is not None:
                _put(node, label, self._block(child, function))
            else:
                _put(node, label, self.statement(child))
        return node

    def top(self, node: Any) -> Any:
        """A statement of the outermost block."""
        function = self._called(node) if isinstance(node, c_ast.FuncCall) else None
        return self._block(node, function) if function is not None else self.statement(node)

    def _problem(self, message: str, node: Any, fix: str = _FORMULA) -> Problem:
        return Problem(message, self.unit.span(node), fix)

    def _called(self, node: Any) -> Any:
        """The function of the text that a call names; None for those of mathematics."""
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        function = self.unit.functions.get(name)
        if function is None or function_of(name) is not None:
            return None
        if name in self.inside:
            raise self._problem(f"{name} calls itself; how often is not known", node, "write a loop")
        self._require_seen(node, function)
        given, taken = _arguments(node), _parameters(function)
        if len(given) != len(taken):
            message = f"{name} takes {number_of(len(taken), 'argument')}, found {len(given)}"
            raise self._problem(message, node, "compare with its definition")
        return function

    def _require_seen(self, node: Any, function: Any) -> None:
        """Problem where a variable of the caller hides one of the file that the function means."""
        hidden = sorted(free_names(function) & _hiding(self.unit))
        if hidden:
            message = f"{function.decl.name} means the {hidden[0]} of the file, which another {hidden[0]} hides here"
            raise self._problem(message, node, f"give one of the two {hidden[0]} another name")

    def _deeper(self, name: str) -> _Inliner:
        return _Inliner(self.unit, (*self.inside, name))

    # -- functions with a value

    def _formula(self, node: Any, function: Any) -> Any:
        """The value of a call, cast to what the function gives."""
        name = function.decl.name
        arguments = [self.statement(a) for a in _arguments(node)]
        if any(_has_effect(a) for a in arguments):
            raise self._problem(f"an argument of {name} changes something", node, "make it a statement of its own")
        names = {p.name: _argument(p, a) for p, a in zip(_parameters(function), arguments, strict=True)}
        kind = function.decl.type.type
        if not isinstance(kind, c_ast.TypeDecl) or getattr(kind.type, "names", None) == ["void"]:
            raise self._problem(f"{name} gives no value", node, "call it as a statement of its own")
        value = self._value(list(deepcopy(function.body).block_items or ()), names, node, name)
        return _cast(kind, self._deeper(name).statement(value), node.coord)

    def _value(self, items: list[Any], names: dict[str, Callable[[Any], Any]], node: Any, name: str) -> Any:
        """What a sequence of statements returns, as one expression."""
        if not items:
            raise self._problem(f"{name} may end without giving a value", node)
        match items[0]:
            case c_ast.Return(expr=value) if value is not None:
                return _mapped(value, names)
            case c_ast.Compound(block_items=inner):
                return self._value([*(inner or ()), *items[1:]], names, node, name)
            case c_ast.Decl(init=value, type=c_ast.TypeDecl() as kind, name=own) if value is not None:
                if own in set(assigned_names(c_ast.Compound(items[1:]))):
                    raise self._problem(f"{name} changes its variable {own}", node)
                made = _cast(kind, _mapped(value, names), value.coord)
                return self._value(items[1:], {**names, own: lambda _: deepcopy(made)}, node, name)
            case c_ast.If(cond=condition, iftrue=then, iffalse=otherwise):
                rest = [otherwise, *items[1:]] if otherwise is not None else items[1:]
                taken = self._value([then], names, node, name)
                missed = self._value(deepcopy(rest), names, node, name)
                return c_ast.TernaryOp(_mapped(condition, names), taken, missed, condition.coord)
        raise self._problem(f"{name} is more than a formula: it cannot be written where it is called", node)

    # -- functions with effects

    def _block(self, node: Any, function: Any) -> Any:
        """What a call does, as a block of the caller."""
        name = function.decl.name
        body = deepcopy(function.body)
        items = list(body.block_items or ())
        if items and isinstance(items[-1], c_ast.Return) and not _has_effect(items[-1]):
            items.pop()
        changed = set(assigned_names(c_ast.Compound(items)))
        names: dict[str, Callable[[Any], Any]] = {}
        before: list[Any] = []
        for parameter, argument in zip(_parameters(function), map(self.statement, _arguments(node)), strict=True):
            if isinstance(parameter.type, c_ast.TypeDecl):
                own = self._own(parameter.name, {*identifiers_in(body), *identifiers_in(node)})
                before.append(_copied(parameter, argument, own, node.coord))
                names[parameter.name] = _named(own)
            else:
                names[parameter.name] = self._array(parameter, argument, changed, node)
        _rename_apart(body, set(identifiers_in(node)))
        moved = _mapped(c_ast.Compound(items, node.coord), names)
        return self._deeper(name).statement(c_ast.Compound([*before, *moved.block_items], node.coord))

    def _own(self, name: str, taken: set[str]) -> str:
        """A name for the copy of a parameter that nothing else bears."""
        found = "_".join([*self.inside[-1:], name, "in"])
        while found in taken:
            found += "_"
        return found

    def _array(self, parameter: Any, argument: Any, changed: set[str], node: Any) -> Callable[[Any], Any]:
        """Another name for an array of the caller, or for a row of one."""
        if isinstance(argument, c_ast.UnaryOp) and argument.op == "&" and isinstance(argument.expr, c_ast.ArrayRef):
            last = argument.expr.subscript
            argument = argument.expr.name if isinstance(last, c_ast.Constant) and last.value == "0" else argument
        base = argument
        while isinstance(base, c_ast.ArrayRef):
            base = base.name
        if not isinstance(base, c_ast.ID) or changed & set(identifiers_in(argument)) - {base.name}:
            message = f"the argument for {parameter.name} is neither an array nor a row of one"
            raise self._problem(message, argument if argument.coord else node, "pass the array and its indices")
        return lambda at: _standing_at(deepcopy(argument), at.coord)


def free_names(function: Any) -> set[str]:
    """Names a function uses and does not declare."""
    own = {p.name for p in _parameters(function)} | {d.name for d in _all_declared(function.body)}
    return set(identifiers_in(function.body)) - own


def _hiding(unit: Unit) -> set[str]:
    """Names of the caller's variables that are not those of the file."""
    inner = [item for item in unit.body if not (unit.source.frame and isinstance(item, c_ast.Decl))]
    found = {d.name for item in inner for d in _all_declared(item)}
    return found | {p.name for p in unit.parameters} | (unit.source.frame.hiding if unit.source.frame else set())


def _arguments(node: Any) -> list[Any]:
    return list(node.args.exprs) if node.args else []


def _parameters(function: Any) -> list[Any]:
    given = function.decl.type.args
    return [p for p in (given.params if given else ()) if getattr(p, "name", None)]


def _argument(parameter: Any, value: Any) -> Callable[[Any], Any]:
    """A parameter's meaning in a formula: its argument, cast; arrays by their names."""
    if not isinstance(parameter.type, c_ast.TypeDecl):
        return lambda _: deepcopy(value)
    return lambda _: _cast(parameter.type, deepcopy(value), value.coord)


def _rounded_up(value: Any, by: Any, coord: Any) -> Any:
    """`ceild(n, d)` as `-floord(-n, d)`."""
    negated = c_ast.UnaryOp("-", value, coord)
    quotient = c_ast.FuncCall(c_ast.ID("floord", coord), c_ast.ExprList([negated, by], coord), coord)
    return c_ast.UnaryOp("-", quotient, coord)


def _named(name: str) -> Callable[[Any], Any]:
    return lambda at: c_ast.ID(name, at.coord)


def _copied(parameter: Any, argument: Any, name: str, coord: Any) -> Any:
    """A variable of the block that begins as the argument."""
    kind = copy(parameter.type)
    kind.declname = name
    return c_ast.Decl(name, [], [], [], [], kind, argument, None, coord)


def _standing_at(node: Any, coord: Any) -> Any:
    node.coord = coord
    return node


def _rename_apart(node: Any, taken: set[str]) -> None:
    """Give the variables declared below a node other names than those taken."""
    clashing = {d.name for d in _all_declared(node)} & taken
    known = set(identifiers_in(node)) | taken
    names = {name: next(n for k in range(2, 99) if (n := f"{name}_{k}") not in known) for name in clashing}
    for part in below(node):
        for label in ("name", "declname"):
            if isinstance(part, c_ast.ID | c_ast.Decl | c_ast.TypeDecl) and getattr(part, label, None) in names:
                setattr(part, label, names[getattr(part, label)])


def _all_declared(node: Any) -> Iterator[Any]:
    yield from (part for part in below(node) if isinstance(part, c_ast.Decl))


def _has_effect(node: Any) -> bool:
    steps = ("p++", "p--", "++", "--")
    return any(isinstance(n, c_ast.Assignment) or getattr(n, "op", "") in steps for n in below(node))
