"""Random values: every operator and builtin of the language whose result is known well enough to compare."""

from __future__ import annotations

from tests.properties.reading import Reading
from tests.properties.scene import EXACT, INTS, Scope, Term, joined

ALL_INTS = tuple(INTS)
NEAR = {"float": ("float", "float", "float", "bfloat16", "float16"), "double": ("double", "double", "float")}


class Values(Reading):
    """Random expressions of a wanted type."""

    def value(self, scope: Scope, dtype: str) -> Term:
        """An expression that can be stored in a cell of this type."""
        if dtype == "bool":
            return self.boolean(scope)
        if dtype in INTS:
            return self.fitted(self.integer(scope, dtype), dtype)
        return self.fitted(self.real(scope, "double" if dtype == "double" else "float"), dtype)

    def fitted(self, term: Term, dtype: str) -> Term:
        """The term cast to the type, its magnitude cut so that it is exact there."""
        if term.dtype in EXACT and term.limit > EXACT[dtype]:
            term = self.clamped(term, 40)
        if term.dtype == dtype:
            return term
        limit = min(term.limit, INTS[dtype]) if dtype in INTS else term.limit
        wide = term.wide_error or (not term.exact and dtype in ("float16", "bfloat16"))
        return Term(f"{dtype}({bare(term.text)})", dtype, limit, term.exact, term.finite, wide)

    def clamped(self, term: Term, limit: int) -> Term:
        """`max(-c, min(c, x))`."""
        dot = ".0" if term.is_float else ""
        text = f"max(min({bare(term.text)}, {limit}{dot}), -{limit}{dot})"
        dtype = joined(term.dtype, "int32") if term.dtype in INTS else joined(term.dtype, "float")
        return Term(text, dtype, limit, term.exact, term.finite, term.wide_error)

    # -- floats --------------------------------------------------------------------------------------

    def real(self, scope: Scope, dtype: str, depth: int = 0) -> Term:
        """float or double arithmetic."""
        if depth > 2 or self.chance(0.25 + 0.2 * depth):
            return self.real_leaf(scope, dtype)
        a = self.real(scope, dtype, depth + 1)
        match self.random.choice("++--***?mfuuXX"):
            case "u":
                return self.real_function(scope, a)
            case "?":
                b, c = self.real(scope, dtype, depth + 1), self.condition(scope)
                return self.merged(f"({c} ? {a.text} : {b.text})", a, b, max(a.limit, b.limit))
            case "m":
                b, f = self.real(scope, dtype, depth + 1), self.random.choice(("min", "max"))
                return self.merged(f"{f}({bare(a.text)}, {bare(b.text)})", a, b, max(a.limit, b.limit))
            case "f" if self.chance(0.3):
                return self.three(scope, dtype, a)
            case "X" if self.chance(0.8):
                return self.inexact(a)
            case "*" | "f" | "X":
                b = self.real(scope, dtype, depth + 1)
                if a.limit * b.limit > EXACT["float"]:
                    a, b = self.clamped(a, 20), self.clamped(b, 20)
                return self.merged(f"{a.text} * {b.text}", a, b, a.limit * b.limit)
            case op:
                b = self.real(scope, dtype, depth + 1)
                if op == "-" and b.text.startswith("-"):
                    op = "+"
                return self.merged(f"({a.text} {op} {b.text})", a, b, a.limit + b.limit)

    def merged(self, text: str, a: Term, b: Term, limit: float) -> Term:
        wide = a.wide_error or b.wide_error
        dtype = joined(a.dtype, b.dtype) if a.dtype != b.dtype or a.is_float else a.dtype
        found = Term(text, dtype, limit, a.exact and b.exact, a.finite and b.finite, wide)
        if found.is_float and limit > EXACT["float"]:
            return self.clamped(found, 50)
        return found

    def three(self, scope: Scope, dtype: str, a: Term) -> Term:
        b, c = self.real_leaf(scope, dtype), self.real_leaf(scope, dtype)
        if a.limit * b.limit > 2**20:
            a, b = self.clamped(a, 20), self.clamped(b, 20)
        found = self.merged(f"fma({bare(a.text)}, {bare(b.text)}, {bare(c.text)})", a, b, a.limit * b.limit + c.limit)
        return self.merged(found.text, found, c, found.limit)

    def real_leaf(self, scope: Scope, dtype: str) -> Term:
        """A read, a constant, an index or an integer, in float arithmetic."""
        kind = self.random.choice("rrrrrrrrcisb")
        if kind == "c" or (kind == "i" and not scope.axes):
            c = self.random.choice((1, 2, 3))
            return Term(self.random.choice((f"{c}.0", f"{dtype}({c})")), dtype, c)
        if kind == "i":
            axis = self.random.choice(scope.axes)
            limit = max(abs(self.number(axis.low)), abs(self.number(axis.high)), 1)
            return Term(f"{dtype}({axis.name})", dtype, limit)
        if kind == "b":
            return self.from_integer(scope, dtype)
        rank = 0 if kind == "s" else self.random.choice((0, 1, 1, 1, 2, 2, 2, 3, 4))
        slot = self.source(NEAR[dtype], scope, rank)
        term = self.read(scope, slot)
        if term.dtype in ("float16", "bfloat16") or (term.dtype != dtype and (dtype == "float" or self.chance(0.3))):
            text = f"{dtype}({bare(term.text)})"
            term = Term(text, dtype, term.limit, term.exact, term.finite, term.wide_error)
        # What a loop may feed to itself would grow without bound.
        return self.clamped(term, 9) if slot.computed and scope.in_loop else term

    def from_integer(self, scope: Scope, dtype: str) -> Term:
        if self.chance(0.3):
            return Term(f"{dtype}({bare(self.condition(scope))})", dtype, 1)
        term = self.integer(scope, "int32", 2)
        if term.limit > 4096:
            return Term(f"{dtype}({term.text} % 16)", dtype, 16)
        return Term(f"{dtype}({bare(term.text)})", dtype, term.limit)

    def real_function(self, scope: Scope, a: Term) -> Term:
        """Functions that give integers for integers."""
        f = self.random.choice(("abs", "relu", "fabs", "-", "sign", "floor", "round", "trunc", "ceil", "fmax", "fdim"))
        if not a.exact and f in ("sign", "floor", "round", "trunc", "ceil"):
            f = "abs"
        if f == "-":
            return Term(f"(-{a.text})", a.dtype, a.limit, a.exact, a.finite, a.wide_error)
        limit = 1 if f == "sign" else a.limit
        if f in ("fmax", "fdim"):
            b = self.real_leaf(scope, a.dtype)
            return self.merged(f"{f}({bare(a.text)}, {bare(b.text)})", a, b, a.limit + b.limit)
        return Term(f"{f}({bare(a.text)})", a.dtype, limit, a.exact, a.finite, a.wide_error)

    def inexact(self, a: Term) -> Term:
        """Functions that round: the result is compared within a bound."""
        if not a.finite or a.limit > 2**12:
            a = self.clamped(a, 30)
        if not a.finite:
            return a
        x = bare(a.text)
        forms = {
            f"tanh({x})": 1, f"sigmoid({x})": 1, f"cos({x})": 1, f"sqrt(abs({x}))": a.limit,
            f"({a.text} / 3.0)": a.limit, f"log(1.0 + abs({x}))": 10, f"({a.text} / (1.0 + abs({x})))": 1,
            f"0.1 * {a.text}": a.limit, f"rsqrt(1.0 + abs({x}))": 1,
        }  # fmt: skip
        if a.limit <= 40:
            forms[f"exp({x} * 0.1)"] = 64
        text = self.random.choice(list(forms))
        return Term(text, a.dtype, forms[text], exact=False, wide_error=a.wide_error)

    # -- integers ------------------------------------------------------------------------------------

    def integer(self, scope: Scope, dtype: str, depth: int = 0) -> Term:
        """Integer arithmetic around a type; it wraps, divides, shifts."""
        if depth > 2 or self.chance(0.25 + 0.2 * depth):
            return self.integer_leaf(scope, dtype)
        a, b = self.integer(scope, dtype, depth + 1), self.integer(scope, dtype, depth + 1)
        kind = joined(a.dtype, b.dtype)
        match self.random.choice("+++---***/%&|^<>?mu"):
            case "u":
                f = self.random.choice(("abs", "relu", "-", "~"))
                text = f"({f}{a.text})" if f in "-~" else f"{f}({bare(a.text)})"
                return Term(text, a.dtype, min(a.limit + 1, INTS[a.dtype]))
            case "<" | ">" as op:
                by = self.random.choice(("1", "2", "3", f"({b.text} & 7)", b.text))
                return Term(f"({a.text} {op}{op} {by})", a.dtype, INTS[a.dtype])
            case "?":
                text = f"({self.condition(scope)} ? {a.text} : {b.text})"
                return Term(text, kind, min(max(a.limit, b.limit), INTS[kind]))
            case "m":
                text = f"{self.random.choice(('min', 'max'))}({bare(a.text)}, {bare(b.text)})"
                return Term(text, kind, min(max(a.limit, b.limit), INTS[kind]))
            case "/" | "%" as op:
                by = self.random.choice(("2", "3", "7", b.text))
                kind = joined(a.dtype, "int32") if by.isdigit() else kind
                return Term(f"({a.text} {op} {by})", kind, min(max(a.limit, b.limit, 8), INTS[kind]))
            case "&" | "|" | "^" as op:
                return Term(f"({a.text} {op} {b.text})", kind, INTS[kind])
            case op:
                grown = a.limit * b.limit if op == "*" else a.limit + b.limit
                return Term(f"({a.text} {op} {b.text})", kind, min(grown, INTS[kind]))

    def integer_leaf(self, scope: Scope, dtype: str) -> Term:
        match self.random.choice("rrrrrrrciof"):
            case "i" if scope.axes:
                axis = self.random.choice(scope.axes)
                limit = max(abs(self.number(axis.low)), abs(self.number(axis.high)), 1)
                return Term(axis.name, "int32", limit)
            case "c" | "i":
                c = self.random.choice((1, 2, 3, 5, 100))
                return Term(str(c), "int32", c)
            case "f" if scope.depth < 2:
                inner = Scope(scope.axes, scope.own, scope.subscripts, scope.plain, scope.in_loop, scope.depth + 1)
                a = self.real_leaf(inner, "float")
                if a.exact and a.finite and a.limit < 2**30:
                    return Term(f"int32({bare(a.text)})", "int32", a.limit)
                return Term("7", "int32", 7)
            case "o":
                dtype = self.random.choice(ALL_INTS)
        return self.read(scope, self.source((dtype,), scope, self.random.choice((0, 1, 1, 2, 2, 3))))

    # -- conditions ----------------------------------------------------------------------------------

    def boolean(self, scope: Scope) -> Term:
        return Term(self.condition(scope), "bool", 1)

    def condition(self, scope: Scope) -> str:
        """A boolean expression in parentheses."""
        if scope.depth > 1 or self.chance(0.45):
            return f"({self.affine_condition(scope)})"
        inner = Scope(scope.axes, scope.own, scope.subscripts, scope.plain, scope.in_loop, scope.depth + 1)
        op = self.random.choice(("<", "<=", ">", ">=", "==", "!="))
        match self.random.choice("ffiibv&|!"):
            case "f":
                a = self.real_leaf(inner, "float")
                return f"({a.text} {op} {self.random.choice(('0.0', '1.0', '-1.0'))})" if a.exact else "(true)"
            case "i":
                a, b = self.integer(inner, "int32", 2), self.integer(inner, "int32", 2)
                return f"({a.text} {op} {b.text})"
            case "b":
                return f"({self.read(inner, self.source(('bool',), inner, self.random.choice((1, 1, 2)))).text})"
            case "!":
                return f"(!{self.condition(inner)})"
            case "&" | "|" as op:
                return f"({self.condition(inner)} {op}{op} {self.condition(inner)})"
        a, b = self.real_leaf(inner, "float"), self.real_leaf(inner, "float")
        return f"({a.text} {op} {b.text})" if a.exact and b.exact else f"({self.affine_condition(scope)})"


def bare(text: str) -> str:
    """Without the parentheses around the whole."""
    if not text.startswith("("):
        return text
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if at == len(text) - 1 else text
    return text
