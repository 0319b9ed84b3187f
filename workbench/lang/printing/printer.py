"""Print expressions and definitions in canonical form: the parser reads back what is printed."""

from __future__ import annotations

import math

from workbench.lang.dtypes import ALIASES, DTYPES, DType
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Read, Select, Size, Unary
from workbench.lang.syntax.syntax import (
    Assign,
    CallStep,
    Clause,
    Define,
    ExistsClause,
    ForStep,
    GenericNode,
    LetClause,
    MonoidNode,
    Parameter,
    RangeClause,
    StepNode,
    TargetNode,
    TypeNode,
    Unit,
    statements_of,
)
from workbench.lang.syntax.terms import PRECEDENCE, Apply, Infix, Literal, Name, Prefix, Term, Ternary

_UNARY = 10
_SHORT = {"float32": "float", "float64": "double"}


def type_name(of: DType) -> str:
    """How a type is printed: `float`, `double`, else its full name.

    >>> from workbench.lang.dtypes import FLOAT32
    >>> type_name(FLOAT32)
    'float'
    """
    return _SHORT.get(of.name, of.name)


def print_term(term: Term, level: int = 0) -> str:
    """A surface expression with the fewest parentheses; `level` is the strength of what surrounds it."""
    match term:
        case Literal(value, _):
            return _number(value)
        case Name(name, _):
            return name
        case Apply(name, arguments, _):
            return f"{_element(name.name)}({', '.join(map(print_term, arguments))})"
        case Prefix(op, operand, _):
            return op + print_term(operand, _UNARY)
        case Infix(op, left, right, _, _):
            own = PRECEDENCE[op]
            text = f"{print_term(left, own)} {op} {print_term(right, own + 1)}"
            return f"({text})" if own < level else text
        case Ternary(condition, then, otherwise, _):
            text = f"{print_term(condition, 1)} ? {print_term(then)} : {print_term(otherwise)}"
            return f"({text})" if level > 0 else text


def _number(value: float) -> str:
    return repr(value)


def _element(name: str) -> str:
    full = ALIASES.get(name, name)
    return type_name(DTYPES[full]) if full in DTYPES else name


def surface(expr: Expr) -> Term:
    """A resolved expression as surface syntax, casts written out."""
    match expr:
        case Const(value, _):
            return _constant(value)
        case Size(name, _) | Index(name, _):
            return Name(name)
        case Read(tensor, (), _):
            return Name(tensor)
        case Read(tensor, subscripts, _):
            return Apply(Name(tensor), tuple(map(surface, subscripts)))
        case Unary(op, operand, _):
            return Prefix(op, surface(operand))
        case Binary(op, left, right, _):
            return Infix(op, surface(left), surface(right))
        case Select(condition, then, otherwise, _):
            return Ternary(surface(condition), surface(then), surface(otherwise))
        case Call(function, arguments, _):
            return Apply(Name(function), tuple(map(surface, arguments)))
        case Cast(operand, to):
            return Apply(Name(type_name(to)), (surface(operand),))


def _constant(value: float) -> Term:
    if isinstance(value, bool):
        return Name("true" if value else "false")
    if value < 0 or math.copysign(1, value) < 0:
        return Prefix("-", _constant(-value))
    if math.isfinite(value):
        return Literal(value)
    return Name("nan" if math.isnan(value) else "inf")


def show(expr: Expr) -> str:
    """A resolved expression as text.

    >>> from workbench.lang.expr import integer
    >>> show(Binary("*", Size("H"), Unary("-", Size("K"), integer(0).dtype), integer(0).dtype))
    'H * -K'
    """
    return print_term(surface(expr))


def print_clause(clause: Clause) -> str:
    """One clause of a `where`."""
    match clause:
        case RangeClause(index, lower, upper, _):
            return f"{index.name} in {print_term(lower)}:{print_term(upper)}"
        case LetClause(name, value):
            return f"{name.name} = {print_term(value)}"
        case ExistsClause(value):
            return f"exists {print_term(value)}"


def print_where(clauses: tuple[Clause, ...]) -> str:
    """The whole `where` with a leading blank, or nothing."""
    return f" where {', '.join(map(print_clause, clauses))}" if clauses else ""


def print_target(target: TargetNode) -> str:
    """The left-hand side of a statement."""
    subscripts = f"({', '.join(map(print_term, target.subscripts))})" if target.subscripts else ""
    return target.name.name + subscripts


def print_statement(step: Assign | CallStep) -> str:
    """One statement on one line."""
    match step:
        case Assign((target,), op, (value,), clauses, False, _):
            return f"{print_target(target)} {op.name} {print_term(value)}{print_where(clauses)}"
        case Assign(targets, op, values, clauses, _, _):
            left, right = ", ".join(map(print_target, targets)), ", ".join(map(print_term, values))
            return f"({left}) {op.name} ({right}){print_where(clauses)}"
        case CallStep(results, callee, arguments, _):
            left, right = ", ".join(map(print_target, results)), ", ".join(map(print_term, arguments))
            return f"({left}) = {callee.name}({right})"


def print_steps(steps: tuple[StepNode, ...], indent: str = "    ") -> str:
    """A body, one statement a line."""
    lines: list[str] = []
    for step in steps:
        if isinstance(step, ForStep):
            lines += [f"{indent}for {print_clause(step.range)} {{", print_steps(step.body, indent + "    ")]
            lines.append(indent + "}")
        else:
            lines.append(indent + print_statement(step))
    return "\n".join(line for line in lines if line)


def print_parameter(parameter: Parameter) -> str:
    """`type NAME` or `NAME`."""
    kind = f"{_print_type(parameter.type)} " if parameter.type else ""
    return kind + parameter.name.name


def _print_type(node: TypeNode) -> str:
    """`element(dims)`."""
    dims = f"({', '.join(map(print_term, node.dims))})" if node.dims else ""
    return _element(node.element.name) + dims


def _generics(generics: tuple[GenericNode, ...]) -> str:
    shown = (f"{g.name}: {g.kind.name}" if g.kind else g.name for g in generics)
    return f"<{', '.join(shown)}>" if generics else ""


def print_define(define: Define) -> str:
    """A def in canonical form."""
    parameters = ", ".join(map(print_parameter, define.parameters))
    outputs = ", ".join(map(print_parameter, define.outputs))
    promises = ", ".join(f"{p.kind.name}({', '.join(map(print_term, p.arguments))})" for p in define.promises)
    where = f" where {promises}" if promises else ""
    head = f"def {define.name.name}{_generics(define.generics)}({parameters}) -> ({outputs}){where} {{"
    return "\n".join(part for part in (head, print_steps(define.body), "}") if part)


def print_monoid(monoid: MonoidNode) -> str:
    """A monoid in canonical form."""
    fields = ", ".join(map(print_parameter, monoid.fields))
    left, right = (", ".join(name.name for name in names) for names in (monoid.left, monoid.right))
    identity, combine = (", ".join(map(print_term, terms)) for terms in (monoid.identity, monoid.combine))
    return (
        f"monoid {monoid.name.name}{_generics(monoid.generics)}({fields}) {{\n"
        f"    identity ({identity})\n"
        f"    combine ({left}), ({right}) -> ({combine}){print_where(monoid.clauses)}\n}}"
    )


def print_unit(unit: Unit) -> str:
    """A whole text in canonical form."""
    return "\n\n".join(print_define(i) if isinstance(i, Define) else print_monoid(i) for i in unit.items)


def canonical_text(unit: Unit, define: Define) -> str:
    """What is needed of the unit, printed in textual order, the def itself last."""
    needed = used_names(unit, define)
    others = [item for item in unit.items if item.name.name in needed and item is not define]
    return print_unit(Unit((*others, define)))


def used_names(unit: Unit, define: Define) -> set[str]:
    """Names of the defs and monoids the def uses, directly or through calls."""
    items = {item.name.name: item for item in unit.items}
    found: set[str] = set()
    waiting = [define]
    while waiting:
        for name in _mentioned(waiting.pop()):
            if name in items and name not in found:
                found.add(name)
                item = items[name]
                if isinstance(item, Define):
                    waiting.append(item)
    return found


def _mentioned(define: Define) -> set[str]:
    names: set[str] = set()
    for statement in statements_of(define.body):
        match statement:
            case CallStep(_, callee, _, _):
                names.add(callee.name)
            case Assign(_, op, _, _, True, _):
                names.add(op.name.rstrip("!="))
            case Assign(_, _, (Apply(callee, _, _),), _, _, _):
                names.add(callee.name)
    return names
