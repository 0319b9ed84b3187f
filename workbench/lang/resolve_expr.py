"""Surface expressions to typed ones: names looked up, types unified, casts inserted."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.errors import unknown_name
from workbench.lang.builtins import BUILTINS, Builtin
from workbench.lang.diagnostics import Problem
from workbench.lang.dtypes import ALIASES, BOOL, DTYPES, FLOAT32, DType
from workbench.lang.expr import COMPARISONS, Binary, Call, Const, Expr, Index, Read, Select, Unary, children
from workbench.lang.polynomial import add, expression, polynomial
from workbench.lang.printer import print_term
from workbench.lang.scope import AlreadyReported, Context, Local, Scope, TensorState, free_name
from workbench.lang.syntax import Apply, Infix, Literal, Name, Prefix, Span, Term, Ternary, operands
from workbench.lang.unify import WEAK, computed, convert, integer_type, settled, unify

DEEPEST = 200
LARGEST = 20_000
WORDS = frozenset({"min", "max", "true", "false", "inf", "nan"})
_LITERALS: dict[str, Const] = {
    "true": Const(True, BOOL),
    "false": Const(False, BOOL),
    "inf": Const(float("inf"), WEAK),
    "nan": Const(float("nan"), WEAK),
}


def element_type(scope: Scope, name: str) -> DType | None:
    """The element type a word denotes in this def, if it denotes one."""
    if name in scope.types:
        return scope.types[name]
    return DTYPES.get(ALIASES.get(name, name))


def check_new_name(scope: Scope, name: Name, what: str) -> None:
    """Problem if a word of the language is used as the name of something."""
    if name.name in WORDS or DTYPES.get(ALIASES.get(name.name, name.name)):
        raise Problem(f"{name.name!r} is a word of the language and cannot name {what}", name.span)
    builtin = BUILTINS.get(name.name)
    if builtin and builtin.reserved:
        raise Problem(f"{name.name!r} is a built-in function and cannot name {what}", name.span)
    if name.name in scope.types:
        raise Problem(f"{name.name!r} is a type variable and cannot name {what}", name.span)


@dataclass
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
        check_depth(term)
        expr = self._resolve(term)
        _check_resolved(expr, term.span)
        return expr

    def value(self, term: Term) -> Expr:
        """The typed expression, with float32 where nothing decided."""
        return settled(self.resolve(term))

    def integer(self, term: Term) -> Expr:
        """An integral expression."""
        expr = self.resolve(term)
        if not expr.dtype.is_integral:
            fix = f"write int32({print_term(term)})" if expr.dtype.is_float else ""
            raise Problem(f"{self.what} must be an integer but is {_type_words(expr.dtype)}", term.span, fix)
        return expr

    def _resolve(self, term: Term) -> Expr:
        self.nodes += 1
        if self.nodes > LARGEST:
            raise Problem(f"the expression has more than {LARGEST} terms once its lets are put in", term.span)
        match term:
            case Literal(value, span):
                return _literal(value, span)
            case Name():
                return self._name(term)
            case Apply():
                return self._apply(term)
            case Prefix():
                return self._prefix(term)
            case Infix():
                return self._infix(term)
            case Ternary():
                return self._ternary(term)

    def _name(self, name: Name) -> Expr:
        word = name.name
        if word in _LITERALS:
            return _LITERALS[word]
        if self.local and word in self.local.lets:
            self.nodes += _size(self.local.lets[word])
            return self.local.lets[word]
        if word in self.scope.axes:
            return self.scope.axes[word]
        if word in self.scope.values:
            return self.scope.values[word]
        if word in self.scope.tensors:
            return self._read(name, (), name.span)
        return self.index(name)

    def index(self, name: Name) -> Index:
        """The iteration variable of that name."""
        word = name.name
        check_new_name(self.scope, name, "an index")
        if self.local is None:
            message = unknown_name("name", word, [*self.scope.values, *self.scope.axes])
            raise Problem(f"{message} ({self.what} uses sizes, integer scalars and enclosing loops)", name.span)
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
            return self._cast(self._resolve(term.arguments[0]), to)
        if word in ("min", "max"):
            if count < 2:
                raise Problem(f"{word} expects two or more arguments but found {count}", term.span)
            return self._extreme(term)
        if word in BUILTINS:
            return self._builtin(term, BUILTINS[word])
        raise self._undefined(term)

    def _undefined(self, term: Apply) -> Problem:
        word = term.name.name
        if word in self.scope.values or word in self.scope.axes or (self.local and word in self.local.lets):
            return Problem(f"expected a tensor but {word!r} is a scalar", term.span, f"write {word} without parentheses")
        if word in self.context.defs:
            fix = f"give its result a name first: X = {print_term(term)}"
            return Problem(f"{word!r} is a def; a call is a statement of its own", term.name.span, fix)
        known = [*self.scope.tensors, *BUILTINS]
        return Problem(unknown_name("tensor or function", word, known if len(known) < 20 else _close(word, known, self)),
                       term.name.span)  # fmt: skip

    def _read(self, name: Name, subscripts: tuple[Term, ...], span: Span) -> Expr:
        state = self.scope.tensors[name.name]
        if not self.tensors:
            raise Problem(f"tensor accesses cannot be used here: {self.what} may not read {name.name!r}", span)
        self._check_readable(state, name)
        self._check_rank(state, name, subscripts, span)
        inner = ExprResolver(self.context, self.scope, self.local, f"a subscript of {name.name}", True, self.nodes)
        resolved = tuple(inner.integer(subscript) for subscript in subscripts)
        self.nodes = inner.nodes
        state.read = True
        assert state.dtype is not None
        return Read(state.name, self._shifted(state, name, resolved), state.dtype)

    def _shifted(self, state: TensorState, name: Name, subscripts: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """A parameter of an inlined def starts at 0 whatever the argument's box."""
        if name.name not in self.scope.inputs or not self.scope.inlined or not state.box:
            return subscripts
        return tuple(
            expression(add(polynomial(subscript), lower)) if lower else subscript
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
            raise Problem(f"expected a tensor but {name.name!r} is a scalar", span, f"write {name.name} without ()")
        plural = "s" if rank != 1 else ""
        raise Problem(f"{name.name!r} has {rank} dimension{plural}: expected {rank} but found {found}", span)

    def _cast(self, operand: Expr, to: DType) -> Expr:
        if operand.dtype == WEAK and to.is_float:
            return convert(operand, to)
        operand = settled(operand)
        return operand if operand.dtype == to else convert(operand, to)

    def _extreme(self, term: Apply) -> Expr:
        arguments = [self._number(argument, f"an argument of {term.name.name}") for argument in term.arguments]
        dtype = computed(_unified(arguments))
        return Call(term.name.name, tuple(convert(argument, dtype) for argument in arguments), dtype)

    def _builtin(self, term: Apply, builtin: Builtin) -> Expr:
        _check_count(term, builtin.arity, builtin.name)
        arguments = [self._number(argument, f"the argument of {builtin.name}") for argument in term.arguments]
        dtype = computed(_unified(arguments))
        if not dtype.is_float and not builtin.keeps_integers:
            dtype = FLOAT32
        if builtin.is_test:
            dtype = FLOAT32 if dtype == WEAK else dtype
        converted = tuple(convert(argument, dtype) for argument in arguments)
        return Call(builtin.name, converted, BOOL if builtin.is_test else dtype)

    def _number(self, term: Term, what: str) -> Expr:
        expr = self._resolve(term)
        if expr.dtype == BOOL:
            fix = f"write int32({print_term(term)}) or {print_term(term)} ? 1 : 0"
            raise Problem(f"{what} must be a number but is bool", term.span, fix)
        return expr

    def _boolean(self, term: Term, what: str) -> Expr:
        expr = self._resolve(term)
        if expr.dtype != BOOL:
            fix = f"write {print_term(term, 7)} != 0"
            raise Problem(f"expected boolean but found {_type_words(expr.dtype)}: {what}", term.span, fix)
        return expr

    def _prefix(self, term: Prefix) -> Expr:
        if term.op == "!":
            return Unary("!", self._boolean(term.operand, "! negates a truth value"), BOOL)
        if term.op == "-" and isinstance(term.operand, Literal):
            return _literal(-term.operand.value, term.span)
        operand = self._number(term.operand, f"the operand of {term.op}")
        if term.op == "~" and not operand.dtype.is_integral:
            raise Problem(f"expected integral type but found {_type_words(operand.dtype)}", term.operand.span)
        if isinstance(operand, Const):
            return Const(-operand.value, operand.dtype) if term.op == "-" else Const(~int(operand.value), operand.dtype)
        dtype = computed(operand.dtype)
        return Unary(term.op, convert(operand, dtype), dtype)

    def _infix(self, term: Infix) -> Expr:
        op = term.op
        if op in ("&&", "||"):
            left = self._boolean(term.left, f"{op} joins truth values")
            return Binary(op, left, self._boolean(term.right, f"{op} joins truth values"), BOOL)
        if op in COMPARISONS:
            return self._comparison(term)
        if op in ("&", "|", "^", "<<", ">>"):
            return self._bitwise(term)
        left = self._number(term.left, f"the left operand of {op}")
        right = self._number(term.right, f"the right operand of {op}")
        dtype = computed(unify(left.dtype, right.dtype))
        if op == "%" and dtype.is_float:
            fix = f"write fmod({print_term(term.left)}, {print_term(term.right)})"
            raise Problem("expected integral type but found float: % is for integers", term.op_span, fix)
        return Binary(op, convert(left, dtype), convert(right, dtype), dtype)

    def _comparison(self, term: Infix) -> Expr:
        if isinstance(term.left, Infix) and term.left.op in COMPARISONS:
            middle = print_term(term.left.right)
            fix = f"write {print_term(term.left)} && {middle} {term.op} {print_term(term.right)}"
            raise Problem("comparisons do not chain: the left side is already a truth value", term.op_span, fix)
        left, right = self._resolve(term.left), self._resolve(term.right)
        if (left.dtype == BOOL) != (right.dtype == BOOL):
            raise Problem("a comparison of a truth value with a number", term.op_span, "convert one side with a cast")
        dtype = computed(unify(left.dtype, right.dtype))
        dtype = FLOAT32 if dtype == WEAK else dtype
        return Binary(term.op, convert(left, dtype), convert(right, dtype), BOOL)

    def _bitwise(self, term: Infix) -> Expr:
        left, right = self._resolve(term.left), self._resolve(term.right)
        for side, expr in ((term.left, left), (term.right, right)):
            if expr.dtype.is_float or (expr.dtype == BOOL and (term.op in ("<<", ">>") or left.dtype != right.dtype)):
                fix = "comparisons bind tighter than & | ^: use && or parentheses" if expr.dtype == BOOL else ""
                found = _type_words(expr.dtype)
                raise Problem(f"expected integral type but found {found}: operand of {term.op}", side.span, fix)
        if term.op in ("<<", ">>"):
            return Binary(term.op, left, right, left.dtype)
        dtype = unify(left.dtype, right.dtype)
        return Binary(term.op, convert(left, dtype), convert(right, dtype), dtype)

    def _ternary(self, term: Ternary) -> Expr:
        condition = self._boolean(term.condition, "what stands before ? decides")
        then, otherwise = self._resolve(term.then), self._resolve(term.otherwise)
        if (then.dtype == BOOL) != (otherwise.dtype == BOOL):
            raise Problem("the branches of ?: are a truth value and a number", term.span)
        dtype = computed(unify(then.dtype, otherwise.dtype))
        return Select(condition, convert(then, dtype), convert(otherwise, dtype), dtype)


def _literal(value: float, span: Span) -> Const:
    if isinstance(value, float):
        return Const(value, WEAK)
    dtype = integer_type(value)
    if dtype is None:
        raise Problem("the number does not fit into int64", span)
    return Const(value, dtype)


def _unified(arguments: list[Expr]) -> DType:
    dtype = arguments[0].dtype
    for argument in arguments[1:]:
        dtype = unify(dtype, argument.dtype)
    return dtype


def _check_count(term: Apply, expected: int, what: str) -> None:
    found = len(term.arguments)
    if found != expected:
        plural = "s" if expected != 1 else ""
        raise Problem(f"{what} takes {expected} argument{plural}: expected {expected} but found {found}", term.span)


def _type_words(dtype: DType) -> str:
    return "a float" if dtype == WEAK else dtype.name


def _close(word: str, known: list[str], resolver: ExprResolver) -> list[str]:
    return list(resolver.scope.tensors) + [name for name in known if name[:2] == word[:2]]


def check_depth(term: Term) -> None:
    """Problem if the expression nests too deep for a recursive walk."""
    level = [term]
    for _ in range(DEEPEST):
        level = [child for node in level for child in operands(node)]
        if not level:
            return
    raise Problem(f"the expression nests more than {DEEPEST} levels deep", term.span, "split it into temporaries")


def _check_resolved(expr: Expr, span: Span) -> None:
    level: list[Expr] = [expr]
    for _ in range(DEEPEST + 100):
        level = list({id(child): child for node in level for child in children(node)}.values())
        if not level:
            return
    raise Problem(f"the expression nests more than {DEEPEST} levels deep once its lets are put in", span)


def _size(expr: Expr) -> int:
    count, stack = 0, [expr]
    while stack and count <= LARGEST:
        count += 1
        stack.extend(children(stack.pop()))
    return count

