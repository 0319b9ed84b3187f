"""The head of a `for`: a range with step 1, and the value of the loop variable in terms of its index."""

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from workbench.errors import LoweringError
from workbench.fromc.numbers.unwrapped_integers import cases
from workbench.fromc.numbers.values import Values
from workbench.fromc.numbers.wraparound import SYMBOLS, NotWhole, Span, span_of
from workbench.fromc.text.scope import Ended, Known
from workbench.fromc.text.types import common_type, converted
from workbench.lang.algebra.normal_form import constant
from workbench.lang.dtypes import INT32, DType
from workbench.lang.expr import COMPARISONS, Binary, Call, Const, Expr, Index, Select, Unary, reads, walk
from workbench.lang.operator import Range
from workbench.poly.programs.affine import NotAffine, affine_text
from workbench.records import record

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


@record
class Head:
    """What the head of a loop says: its variable takes `first`, `first + step`, ... while all `bounds` hold.

    The variable's values lie in `span`.
    """

    variable: str
    dtype: DType
    first: Expr
    step: int
    bounds: tuple[tuple[str, Expr], ...]
    span: Span


def read_head(values: Values, node: Any) -> Head:
    """The head of a loop that counts; Problem for any other."""
    variable, start = _start(values, node)
    dtype = _type(values, node, variable)
    step = _step(values, node, variable)
    if step < 0 and dtype.kind == "uint":
        message = f"{variable} counts down in an unsigned type and never is below 0"
        raise values.problem(message, node, f"declare it as int or long: for (int {variable} = ...)")
    first, begin = _bound(values, start, f"the first value of {variable}", dtype)
    counter = Counter(variable, dtype, step, begin)
    bounds = tuple(_bounds(values, node.cond, counter)) if node.cond is not None else ()
    if not bounds:
        message = f"the loop over {variable} has no bound"
        raise values.problem(message, node, f"write for ({variable} = 0; {variable} < n; {variable}++)")
    ends = [span for _, _, span in bounds]
    span = (begin[0], min(e[1] for e in ends)) if step > 0 else (max(e[0] for e in ends), begin[1])
    return Head(variable, dtype, first, step, tuple((op, bound) for op, bound, _ in bounds), span)


def _start(values: Values, node: Any) -> tuple[str, Any]:
    match node.init:
        case c_ast.DeclList(decls=[c_ast.Decl(name=str(name), type=c_ast.TypeDecl(), init=start)]) if start:
            return name, start
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=start):
            return name, start
    fix = "write for (int i = 0; i < n; i++)"
    raise values.problem("expected a loop that sets one variable in its head", node, fix)


def _type(values: Values, node: Any, variable: str) -> DType:
    if isinstance(node.init, c_ast.DeclList):
        dtype = values.scope.element(node.init.decls[0].type.type)
    else:
        found = values.scope.find(variable)
        dtype = found.dtype if isinstance(found, Ended) else None
        if found is None and values.unit.is_nest:
            dtype = INT32
        elif dtype is None:
            what = "is not a loop variable of its own" if found else "is not declared"
            fix = f"declare it in the loop: for (int {variable} = ...)"
            raise values.problem(f"{variable} {what}", node.init, fix)
    if dtype is None or not dtype.is_integral or dtype.bits < 32:
        fix = f"write for (int {variable} = ...)"
        raise values.problem(f"the loop variable {variable} must be an int or a long", node.init or node, fix)
    return dtype


def _step(values: Values, node: Any, variable: str) -> int:
    change: Expr | None = None
    match node.next:
        case c_ast.UnaryOp(op="p++" | "++", expr=c_ast.ID(name=name)) if name == variable:
            return 1
        case c_ast.UnaryOp(op="p--" | "--", expr=c_ast.ID(name=name)) if name == variable:
            return -1
        case c_ast.Assignment(op="+=" | "-=" as op, lvalue=c_ast.ID(name=name), rvalue=by) if name == variable:
            change = values.index(by, f"the step of {variable}")
            change = Unary("-", change, INT32) if op == "-=" else change
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=c_ast.BinaryOp(left=left, right=by) as sum):
            if name == variable and _is(left, variable) and sum.op in ("+", "-"):
                change = values.index(by, f"the step of {variable}")
                change = Unary("-", change, INT32) if sum.op == "-" else change
    step = None if change is None else constant(change)
    if not step:
        message = f"the step of {variable} must be a constant other than 0"
        raise values.problem(message, node.next or node, f"write {variable}++ or {variable} += 2")
    return step


@record
class Counter:
    """What counts in a loop: its first value lies in `begin`."""

    name: str
    dtype: DType
    step: int
    begin: Span


def _bounds(values: Values, node: Any, counter: Counter) -> list[tuple[str, Expr, Span]]:
    """The conditions under which the loop goes on, each as (comparison, bound, where that lies)."""
    if isinstance(node, c_ast.BinaryOp) and node.op == "&&":
        return _bounds(values, node.left, counter) + _bounds(values, node.right, counter)
    variable, step = counter.name, counter.step
    expected = f"expected {variable} {'<' if step > 0 else '>'} a bound"
    if not isinstance(node, c_ast.BinaryOp) or node.op not in COMPARISONS:
        raise values.problem(f"the loop over {variable} goes on while this holds; {expected}", node)
    op, bound = str(node.op), node.right
    if not _is(node.left, variable):
        op, bound = MIRRORED.get(op, op), node.left
        if not _is(node.right, variable):
            raise values.problem(f"this bound is not one of {variable} alone; {expected}", node)
    what = f"the bound of {variable}"
    dtype = common_type(counter.dtype, values.integer(bound, what).dtype)
    found, span = _bound(values, bound, what, dtype)
    _require_unturned(values, node, counter, dtype, (op, span))
    allowed = ("<", "<=") if step > 0 else (">", ">=")
    if op == "!=" and abs(step) == 1:
        op = allowed[0]
    if op not in allowed:
        way = "up" if step > 0 else "down"
        raise values.problem(f"{variable} counts {way}, which {op} does not end; {expected}", node)
    return [(op, found, span)]


def _bound(values: Values, node: Any, what: str, dtype: DType) -> tuple[Expr, Span]:
    """(a whole number, between what it lies) of what a loop begins or ends with, in the type in which it is taken."""
    taken = converted(values.integer(node, what), dtype)
    if any(reads(taken)):
        return taken, span_of(dtype)
    try:
        only, *more = cases(taken, values.scope.spans)
        found = only.expression
    except NotWhole:
        return taken, span_of(dtype)
    if more or only.conditions:
        message = f"{what} is computed in {dtype}, where it may wrap around: what is below 0 becomes large"
        raise values.problem(message, node, "use a signed type (int or long) on both sides")
    return found, (only.low, only.high)


def _require_unturned(values: Values, node: Any, counter: Counter, dtype: DType, end: tuple[str, Span]) -> None:
    """Problem where an unsigned comparison, or counter, takes a number below 0 for a large one."""
    if dtype.kind != "uint":
        return
    op, (low, _) = end
    name, (first, last) = counter.name, counter.begin
    if counter.dtype.kind == "int":
        stays = first >= 0 and (counter.step > 0 or (counter.step == -1 and op == ">"))
        if not stays:
            message = f"{name} is compared in {dtype}, where it is large when it is below 0"
            raise values.problem(message, node, f"convert the other side: {name} < (int)n")
    if op == "!=" and (last > low if counter.step > 0 else first < end[1][1]):
        message = f"{name} may begin beyond this bound, and then counts all around {dtype}"
        raise values.problem(message, node, f"write {name} {'<' if counter.step > 0 else '>'} a bound")


def _is(node: Any, variable: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == variable


def opened_loop(values: Values, node: Any, head: Head) -> Range:
    """The sequential axis of a loop; its variable gets its meaning in the innermost block.

    A loop with another step than 1 counts its iterations from 0: `i += 2` makes `lower + 2*i` of `i`.
    """
    scope = values.scope
    name = _index_name(values, head.variable)
    inclusive = [_inclusive(op, bound) for op, bound in head.bounds]
    first, step = extremes(head.first), head.step
    if step == 1:
        upper = _joined("min", [_plus(b, 1) for b in inclusive])
        own, value = Range(name, first, upper, "sequential", "the loop's head"), Index(name)
    else:
        counts = [_count(first, bound, step) for bound in inclusive]
        own = Range(name, Const(0, INT32), _joined("min", counts), "sequential", "the loop's head")
        distance = Index(name) if abs(step) == 1 else Binary("*", Const(abs(step), INT32), Index(name), INT32)
        value = Binary("+" if step > 0 else "-", head.first, distance, INT32)
    for bound, what in ((own.lower, "first value"), (own.upper, "bound")):
        _require_affine(values, node, bound, f"the {what} of {head.variable}")
    for known in [e for e in scope.spans if Index(name) in set(walk(e))]:
        del scope.spans[known]
    scope.spans |= {Index(name): (0, SYMBOLS[1]), value: head.span}
    scope.declare(head.variable, Known(value, head.dtype))
    return own


def _index_name(values: Values, variable: str) -> str:
    """The variable's own name, or with a number where a loop around or a size bears it."""
    taken = {r.index for r in values.scope.ranges} | values.scope.symbols
    number, name = 2, variable
    while name in taken:
        name, number = f"{variable}_{number}", number + 1
    return name


def _inclusive(op: str, bound: Expr) -> Expr:
    return _plus(extremes(bound), {"<": -1, ">": 1}.get(op, 0))


def _plus(expr: Expr, amount: int) -> Expr:
    match expr:
        case _ if not amount:
            return expr
        case Const(value, dtype):
            return Const(value + amount, dtype)
        case Binary("+", left, Const(value, _), _):
            return _plus(left, int(value) + amount)
        case Binary("-", left, Const(value, _), _):
            return _plus(left, amount - int(value))
        case Call("min" | "max" as name, arguments, dtype):
            return Call(name, tuple(_plus(a, amount) for a in arguments), dtype)
    return Binary("+" if amount > 0 else "-", expr, Const(abs(amount), INT32), INT32)


def _joined(name: str, found: list[Expr]) -> Expr:
    parts = tuple(dict.fromkeys(found))
    return parts[0] if len(parts) == 1 else Call(name, parts, INT32)


def _count(first: Expr, last: Expr, step: int) -> Expr:
    """Iterations from `first` to `last` inclusive (0 or less if there is none)."""
    ends = (last, first) if step > 0 else (first, last)
    distance = Binary("-", ends[0], ends[1], INT32)
    return _plus(distance, 1) if abs(step) == 1 else _plus(Binary("/", distance, Const(abs(step), INT32), INT32), 1)


def extremes(expr: Expr) -> Expr:
    """`a < b ? a : b` as a minimum, and so on."""
    match expr:
        case Select(Binary("<" | "<=" | ">" | ">=" as op, left, right, _), then, otherwise, _) if {left, right} == {
            then,
            otherwise,
        }:
            smaller = (op in ("<", "<=")) == (then == left)
            return Call("min" if smaller else "max", (extremes(then), extremes(otherwise)), INT32)
        case Call("min" | "max" as name, arguments, dtype):
            return Call(name, tuple(map(extremes, arguments)), dtype)
    return expr


def _require_affine(values: Values, node: Any, expr: Expr, what: str) -> None:
    """Problem unless isl can say the bound."""
    if any(reads(expr)):
        fix = "bounds are made of sizes, integer parameters and the variables of loops around"
        raise values.problem(f"{what} depends on data", node, fix)
    parts = expr.arguments if isinstance(expr, Call) and expr.function in ("min", "max") else (expr,)
    for part in parts:
        try:
            affine_text(part)
        except (NotAffine, LoweringError):
            fix = "expected sums of sizes and loop variables with constant factors"
            raise values.problem(f"{what} is not affine", node, fix) from None
