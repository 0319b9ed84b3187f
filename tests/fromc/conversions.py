"""Random integer expressions of C with all its conversions, and what they are by the rules of C: an interpreter that
shares nothing with the raising, and says where C leaves the meaning open.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

# name → (bits, signed); ranks are by bits.
TYPES = {
    "int": (32, True), "unsigned": (32, False), "long": (64, True), "unsigned long": (64, False),
    "short": (16, True), "unsigned short": (16, False), "signed char": (8, True), "unsigned char": (8, False),
}  # fmt: skip
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
OPERATIONS = ("+", "+", "-", "-", "*", "/", "%", *["cast"] * 4, "~", "neg", ">>", "<<", "?", "truth")
CONSTANTS = (0, 1, 2, 3, 4, 5, 7, 12, 20, 100, 250, 300, 4294967290, 4294967295)


class Undefined(Exception):
    """C says nothing about this."""


@dataclass(frozen=True)
class Node:
    """An expression: its text, and the operands of `op`."""

    text: str
    op: str
    parts: tuple = ()


def promoted(kind: str) -> str:
    return "int" if TYPES[kind][0] < 32 else kind


def common(a: str, b: str) -> str:
    a, b = promoted(a), promoted(b)
    x, y = TYPES[a], TYPES[b]
    if x[0] != y[0]:
        return a if x > y else b
    return b if x[1] else a


def kept(value: int, kind: str) -> int:
    bits, signed = TYPES[kind]
    value %= 1 << bits
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def counted(value: int, kind: str) -> int:
    """The result of arithmetic: unsigned types wrap, signed ones must not."""
    if TYPES[kind][1] and kept(value, kind) != value:
        raise Undefined
    return kept(value, kind)


def evaluate(node: Node, env: dict[str, tuple[str, int]]) -> tuple[str, int]:
    """(type, value) of an expression."""
    match node.op, node.parts:
        case "name", (name,):
            return env[name]
        case "number", (kind, value):
            return kind, value
        case "cast", ("_Bool", inner):
            return "unsigned char", int(evaluate(inner, env)[1] != 0)
        case "cast", (kind, inner):
            return kind, kept(evaluate(inner, env)[1], kind)
        case "!", (inner,):
            return "int", int(evaluate(inner, env)[1] == 0)
        case "-" | "~" as op, (inner,):
            kind, value = evaluate(inner, env)
            kind = promoted(kind)
            return kind, counted(-value if op == "-" else ~value, kind)
        case "?", (condition, a, b):
            chosen = a if evaluate(condition, env)[1] else b
            kinds = [type_of(part, env) for part in (a, b)]
            return common(*kinds), kept(evaluate(chosen, env)[1], common(*kinds))
        case "&&" | "||" as op, (a, b):
            left = evaluate(a, env)[1] != 0
            if left == (op == "||"):
                return "int", int(left)
            return "int", int(evaluate(b, env)[1] != 0)
    return binary(node.op, *(evaluate(part, env) for part in node.parts))


def type_of(node: Node, env: dict[str, tuple[str, int]]) -> str:
    """The type alone, which never is undefined: of the same expression of ones."""
    match node.op, node.parts:
        case "name", (name,):
            return env[name][0]
        case "number", (kind, _):
            return kind
        case "cast", (kind, _):
            return "unsigned char" if kind == "_Bool" else kind
        case ("-" | "~"), (inner,):
            return promoted(type_of(inner, env))
        case "?", (_, a, b):
            return common(type_of(a, env), type_of(b, env))
        case ("<<" | ">>"), (a, _):
            return promoted(type_of(a, env))
        case ("!" | "&&" | "||" | "<" | "<=" | ">" | ">=" | "==" | "!="), _:
            return "int"
    return common(*(type_of(part, env) for part in node.parts))


def binary(op: str, left: tuple[str, int], right: tuple[str, int]) -> tuple[str, int]:
    if op in ("<<", ">>"):
        kind = promoted(left[0])
        if not 0 <= right[1] < TYPES[kind][0] or (op == "<<" and left[1] < 0):
            raise Undefined
        return kind, counted(left[1] << right[1] if op == "<<" else left[1] >> right[1], kind)
    kind = common(left[0], right[0])
    a, b = kept(left[1], kind), kept(right[1], kind)
    if op in COMPARISONS:
        found = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[op]
        return "int", int(found)
    if op in ("/", "%"):
        if b == 0:
            raise Undefined
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return kind, counted(quotient if op == "/" else a - b * quotient, kind)
    return kind, counted({"+": a + b, "-": a - b, "*": a * b}[op], kind)


class Expressions:
    """Random expressions of some names."""

    def __init__(self, seed: int, names: tuple[str, ...]) -> None:
        self.random, self.names = random.Random(seed), names

    def number(self) -> Node:
        value = self.random.choice(CONSTANTS)
        kind = "long" if value > 2**31 else "int"
        suffixes = (("", kind), ("", kind), ("u", "unsigned"), ("l", "long"), ("ul", "unsigned long"))
        suffix, kind = self.random.choice(suffixes)
        return Node(f"{value}{suffix}", "number", (kind, value))

    def leaf(self) -> Node:
        if self.random.random() < 0.35:
            return self.number()
        name = self.random.choice(self.names)
        return Node(name, "name", (name,))

    def value(self, depth: int) -> Node:
        """An integer expression."""
        if depth == 0:
            return self.leaf()
        op = self.random.choice(OPERATIONS)
        inner = self.value(depth - 1)
        match op:
            case "cast":
                kind = self.random.choice((*TYPES, "_Bool"))
                return Node(f"({kind})({inner.text})", "cast", (kind, inner))
            case "~" | "neg":
                sign = "-" if op == "neg" else op
                return Node(f"{sign}({inner.text})", sign, (inner,))
            case "?":
                parts = (self.condition(depth - 1), inner, self.value(depth - 1))
                return Node("(({}) ? ({}) : ({}))".format(*(p.text for p in parts)), "?", parts)
            case "truth":
                return self.condition(depth - 1)
            case "*" | "/" | "%":
                by = self.random.choice((1, 2, 3, 7, 16))
                suffix, kind = self.random.choice((("", "int"), ("u", "unsigned"), ("ul", "unsigned long")))
                other = Node(f"{by}{suffix}", "number", (kind, by))
            case ">>" | "<<":
                by = self.random.choice((1, 2, 4))
                other = Node(str(by), "number", ("int", by))
            case _:
                other = self.value(depth - 1)
        return Node(f"({inner.text}) {op} ({other.text})", op, (inner, other))

    def condition(self, depth: int) -> Node:
        """A comparison, or several."""
        op = self.random.choice((*COMPARISONS, *COMPARISONS, *("&&", "||", "!") * (depth > 0)))
        if op == "!":
            inner = self.condition(depth - 1)
            return Node(f"!({inner.text})", "!", (inner,))
        part = self.condition if op in ("&&", "||") else self.value
        a, b = part(max(0, depth - 1)), part(max(0, depth - 1))
        return Node(f"(({a.text}) {op} ({b.text}))", op, (a, b))
