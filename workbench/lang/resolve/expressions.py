"""Surface expressions to typed ones: names looked up, types unified, casts inserted."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import unknown_name
from workbench.lang.algebra.normal_form import is_plain, polynomial, simplify
from workbench.lang.algebra.polynomial import expression
from workbench.lang.builtins import BUILTINS
from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Const, Expr, Index, Read, Size
from workbench.lang.printing.printer import print_term
from workbench.lang.resolve.operations import (
    Operand,
    builtin_call,
    cast,
    check_no_truths,
    infix_operation,
    min_or_max,
    prefix_operation,
    ternary,
    type_words,
    typed_literal,
)
from workbench.lang.scopes.scope import (
    AlreadyReported,
    Context,
    Local,
    Scope,
    TensorState,
    check_new_name,
    element_type,
    free_name,
)
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.limits import LARGEST_EXPR, check_depth, check_resolved_depth, size_of
from workbench.lang.syntax.terms import Apply, Infix, Literal, Name, Prefix, Span, Term, Ternary
from workbench.lang.unify import WEAK
from workbench.records import record

_LITERALS: dict[str, Const] = {
    "true": Const(True, BOOL),
    "false": Const(False, BOOL),
    "inf": Const(float("inf"), WEAK),
    "nan": Const(float("nan"), WEAK),
}

# What other languages have as functions.
HABITS = {
    "sum": "a sum is an assignment: s +=! A(i)",
    "prod": "a product is an assignment: p *=! A(i)",
    "mean": "a mean is a sum, divided by the extent: s +=! A(i) and then m = s / float(N)",
    "any": "write s max=! P(i), which is true if any is",
    "all": "write s min=! P(i), which is true if all are",
    **dict.fromkeys(("dot", "matmul", "einsum"), "a product is an assignment: C(m, n) +=! A(m, k) * B(k, n)"),
    **dict.fromkeys(("select", "where", "if_then_else"), "write condition ? value : other"),
    **dict.fromkeys(("clamp", "clip"), "write min(max(x, lowest), largest)"),
    **dict.fromkeys(("len", "size", "shape"), "an extent is a name: with float(N) A it is N"),
    **dict.fromkeys(("maximum", "amax"), "of two values it is max(x, y), over an index C(i) max=! A(i, k)"),
    **dict.fromkeys(("minimum", "amin"), "of two values it is min(x, y), over an index C(i) min=! A(i, k)"),
    **dict.fromkeys(("square", "sqr"), "write x * x"),
    "power": "write pow(x, y)",
    "absolute": "write abs(x)",
    "mod": "write x % y for integers, fmod(x, y) for floats",
    "cast": "a cast is written with the type's name: double(x)",
    "argmax": "a reduction over (value, index) is a monoid: wb.ops.argmax shows one",
    "argmin": "a reduction over (value, index) is a monoid: wb.ops.argmin shows one",
}


@record(frozen=False)
class ExprResolver:
    """Resolves the expressions of one statement.

    `what` names the place for messages.  With `local` None there are no indices (dimensions, bounds of
    `for`); with `tensors` False no tensor may be read.
    """

    context: Context
    scope: Scope
    local: Local | None
    what: str = "this expression"
    tensors: bool = True
    nodes: int = 0

    def resolve(self, term: Term) -> Expr:
        """The typed expression; literals that nothing decided are still WEAK."""
        if isinstance(term, Name | Literal):  # what a let stands for was looked through when it was resolved
            return self._resolve(term)
        check_depth(term)
        expr = self._resolve(term)
        check_resolved_depth(expr, term.span)
        return expr

    def integer(self, term: Term) -> Expr:
        """An integral expression."""
        expr = self.resolve(term)
        if not expr.dtype.is_integral:
            fix = f"write int32({print_term(term)})" if expr.dtype.is_float else ""
            raise Problem(f"{self.what} must be an integer but is {type_words(expr.dtype)}", term.span, fix)
        return expr

    def bound(self, term: Term) -> Expr:
        """A bound or dimension in normal form: integers, sizes and indices under `+ - * / %`, min and max."""
        expr = self.integer(term)
        if not is_plain(expr):
            message = f"{self.what} is made of integers, sizes, integer scalars and indices with + - * / % min max"
            raise Problem(message, term.span)
        return simplify(expr, expr.dtype)

    def _resolve(self, term: Term) -> Expr:
        self.nodes += 1
        if self.nodes > LARGEST_EXPR:
            raise Problem(f"the expression has more than {LARGEST_EXPR} terms once its lets are put in", term.span)
        match term:
            case Literal(value, span):
                return typed_literal(value, span)
            case Name():
                return self._name(term)
            case Apply():
                return self._apply(term)
            case Prefix(_, operand, _):
                return prefix_operation(term, self._operand(operand))
            case Infix(_, left, right, _, _):
                operands = self._operand(left), self._operand(right)
                self._check_numbers(term, operands)
                self._warn_of_quotient(term, *operands)
                return infix_operation(term, *operands)
            case Ternary(condition, then, otherwise, _):
                decision, *branches = (self._operand(each) for each in (condition, then, otherwise))
                self._check_numbers(term, branches)
                return ternary(term, decision, branches[0].expr, branches[1].expr)

    def _check_numbers(self, term: Term, operands: Sequence[Operand]) -> None:
        """Where a type variable became bool, truth values are not taken for 0 and 1."""
        if self.context.strict or self.scope.truths_from_types:
            check_no_truths(term, operands)

    def _warn_of_quotient(self, term: Infix, left: Operand, right: Operand) -> None:
        """`1 / 2` is 0, and so is 1 over a size: a float is meant more often."""
        match term.op, left.expr, right.expr:
            case "/", Const(int() as a, _), Const(int() as b, _) if not b or a % b:
                pass
            case "/", Const(int(), _), Size():
                pass
            case _:
                return
        if self.what == "the value":
            said = f"`{print_term(term)}` divides integers and is rounded down"
            self.context.warnings.append(f"{said}: for a fraction write {print_term(term.left)}.0")

    def _name(self, name: Name) -> Expr:
        word = name.name
        if word in _LITERALS:
            return _LITERALS[word]
        if self.local and word in self.local.lets:
            self.nodes += size_of(self.local.lets[word])
            return self.local.lets[word]
        if word in self.scope.axes:
            return self.scope.axes[word]
        if word in self.scope.values:
            return self.scope.values[word]
        if word in self.scope.tensors:
            return self._read(name, (), name.span)
        # What nobody knows is an index; where it has no range, `resolve/statements.py` says so later.
        return self.index(name)

    def index(self, name: Name) -> Index:
        """The iteration variable of that name."""
        word = name.name
        check_new_name(self.scope, name, "an index")
        if self.local is None:
            message = unknown_name("name", word, [*self.scope.values, *self.scope.axes])
            message += f" ({self.what} uses sizes, integer scalars and enclosing loops)"
            fix = f"add a parameter to the def: int32 {word}" if self.what.startswith("a bound") else ""
            raise Problem(message, name.span, fix)
        if word not in self.local.indices:
            used = {index.name for index in self.local.indices.values()}
            actual = free_name(word, self.context.taken | used) if self.scope.inlined else word
            self.local.indices[word] = Index(actual)
            self.local.spans[actual] = name.span
        return self.local.indices[word]

    def _apply(self, term: Apply) -> Expr:
        word, count = term.name.name, len(term.arguments)
        if word in self.scope.tensors:
            return self._read(term.name, term.arguments, term.span)
        to = element_type(self.scope, word)
        if to is not None:
            _check_count(term, 1, f"a cast to {word}")
            return cast(self._resolve(term.arguments[0]), to)
        if word in ("min", "max"):
            if count < 2:
                fix = f"over an index it is an assignment: C(i) {word}=! A(i, k)"
                raise Problem(f"{word} expects two or more arguments but found {count}", term.span, fix)
            return min_or_max(word, self._numbers(term))
        if word in BUILTINS:
            _check_count(term, BUILTINS[word].arity, word)
            return builtin_call(BUILTINS[word], self._numbers(term))
        raise self._undefined(term)

    def _undefined(self, term: Apply) -> Problem:
        word = term.name.name
        if word in self.scope.values or word in self.scope.axes or (self.local and word in self.local.lets):
            fix = f"write {word} without parentheses"
            return Problem(f"expected a tensor but {word!r} is a scalar", term.span, fix)
        if word in self.context.defs:
            fix = f"give its result a name first: X = {print_term(term)}"
            return Problem(f"{word!r} is a def; a call is a statement of its own", term.name.span, fix)
        similar = [name for name in BUILTINS if name[:2] == word[:2]]
        message = unknown_name("tensor or function", word, [*self.scope.tensors, *similar])
        return Problem(message, term.name.span, HABITS.get(word, ""))

    def _read(self, name: Name, subscripts: tuple[Term, ...], span: Span) -> Expr:
        state = self.scope.tensors[name.name]
        if not self.tensors:
            raise self._forbidden(state, name, span)
        self._check_readable(state, name)
        self._check_rank(state, name, subscripts, span)
        inner = ExprResolver(self.context, self.scope, self.local, f"a subscript of {name.name}", True, self.nodes)
        resolved = tuple(inner.integer(subscript) for subscript in subscripts)
        self.nodes = inner.nodes
        state.read = True
        assert state.dtype is not None
        return Read(state.name, self._shifted(state, name, resolved), state.dtype)

    def _forbidden(self, state: TensorState, name: Name, span: Span) -> Problem:
        if state.rank == 0 and state.dtype is not None and not state.dtype.is_integral:
            message = f"{self.what} must be an integer but {name.name!r} is {state.dtype.name}"
            return Problem(message, span, f"declare it as an integer: int32 {name.name}")
        fix = "use the largest range and a condition: index < limit ? ... : 0"
        return Problem(f"tensor accesses cannot be used here: {self.what} may not read {name.name!r}", span, fix)

    def _shifted(self, state: TensorState, name: Name, subscripts: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """A parameter of an inlined def starts at 0 whatever the argument's box."""
        if name.name not in self.scope.inputs or not self.scope.inlined or not state.box:
            return subscripts
        return tuple(
            expression(polynomial(subscript) + lower, subscript.dtype) if lower else subscript
            for subscript, (lower, _) in zip(subscripts, state.box, strict=True)
        )

    def _check_readable(self, state: TensorState, name: Name) -> None:
        if state.broken:
            raise AlreadyReported
        if state.written or state.role in ("input", "inout"):
            return
        if state.role == "output" and state.declared is not None:
            state.role, state.box = "inout", state.declared
            return
        fix = f"annotate the output, as in -> (float(N) {name.name}): then the caller passes it as out="
        raise Problem(
            f"undefined variable {name.name!r} used here: nothing has been written to it yet",
            name.span,
            fix if state.role == "output" else f"write {name.name} in a statement before this one",
        )

    def _check_rank(self, state: TensorState, name: Name, subscripts: tuple[Term, ...], span: Span) -> None:
        rank, found = state.rank or 0, len(subscripts)
        if rank == found:
            return
        if found == 0:
            fix = f"write {name.name}({', '.join('ijklmnpq'[:rank])})"
            raise Problem(f"expected a scalar but {name.name!r} is a tensor with {rank} dimensions", span, fix)
        if rank == 0:
            fix = f"write {name.name} without parentheses"
            raise Problem(f"expected a tensor but {name.name!r} is a scalar", span, fix)
        plural = "s" if rank != 1 else ""
        message = f"{name.name!r} has {rank} dimension{plural}: expected {rank} subscript{plural}"
        raise Problem(f"{message} but found {found}", span)

    def _operand(self, term: Term) -> Operand:
        return Operand(term, self._resolve(term))

    def _numbers(self, term: Apply) -> list[Operand]:
        operands = [self._operand(argument) for argument in term.arguments]
        self._check_numbers(term, operands)
        return operands


def _check_count(term: Apply, expected: int, what: str) -> None:
    found = len(term.arguments)
    if found != expected:
        plural = "s" if expected != 1 else ""
        message = f"{what} takes {expected} argument{plural}: expected {expected} but found {found}"
        raise Problem(message, term.span)
