"""Random typed models for tests of whatever changes models: control flow, data types, functions, cells, sharing.

Terms are made from their type downwards; a node that was made before may be used again, in whatever scope, so the graph
has sharing across branches and functions.  Every model ends, and takes the arguments of `random_arguments`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.graph import Model, model
from workbench.graph.terms.nodes import (
    Binder,
    Call,
    Clause,
    Constant,
    Construction,
    Constructor,
    Function,
    Global,
    If,
    Items,
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
    Wildcard,
    WriteReference,
)
from workbench.graph.terms.scalars import infix
from workbench.graph.terms.types import DataType, FunctionType, ReferenceType, TupleType, Type
from workbench.graph.text.reading_one import read_type
from workbench.lang import operators
from workbench.lang.operator import Operator
from workbench.ops.catalogue import load

OPERATORS: dict[str, Operator] = {
    **operators("""
def add1<T: numbers>(T(N) x, T(N) y) -> (z) { z(i) = x(i) + y(i) }
def scale1<T>(T(N) x, T s) -> (z) { z(i) = x(i) * s }
def total<T>(T(N) x) -> (s) { s +=! x(i) }
def rows<T>(T(N) x, T(K) y) -> (z) { z(i,k) = x(i) * y(k) }
def column<T>(T(N,K) x) -> (z) { z(i) +=! x(i,k) }
def spread(float s, float(N) like) -> (float(N) z) { z(i) = s + 0.0 * like(i) }
def halves<T>(T(N) x) -> (y, z) {
    y(i) = 0.5 * x(i)
    z(i) = x(i) - y(i)
}
def number(int32 a) -> (float b) { b = float(a) }
"""),
    **{name: load(name) for name in ("softplus", "gelu_tanh", "softmax", "matmul", "argmax")},
}
HELPERS = """
type Pick<a> = Neither | One(a) | Both(a, a)
fn map<a, b>(f: fn(a) -> b, xs: List<a>) -> List<b> {
    match xs { Nil => Nil   Cons(x, rest) => Cons(f(x), map(f, rest)) }
}
fn fold<a, b>(f: fn(b, a) -> b, start: b, xs: List<a>) -> b {
    match xs { Nil => start   Cons(x, rest) => fold(f, f(start, x), rest) }
}
fn leaves(t: Tree<float32>) -> float32 { match t { Leaf => 0.0   Node(x, l, r) => leaves(l) + x + leaves(r) } }
fn repeat<a>(n: int32, f: fn(a) -> a, x: a) -> a { if n < 1 { x } else { repeat(n - 1, f, f(x)) } }
"""
_HELPERS = model(HELPERS)
NAMES = ("int32", "float32", "bool", "float32[n]", "float32[n, 3]", "List<float32[n]>", "Option<float32>",
         "Pick<float32[n]>", "Tree<float32>", "(int32, float32[n])", "fn(float32[n]) -> float32[n]",
         "ref(int32)")  # fmt: skip
TYPES: dict[str, Type] = {name: read_type(name, _HELPERS.definitions) for name in NAMES}
INT, FLOAT, BOOL, VECTOR, MATRIX, LIST, OPTION, PICK, TREE, PAIR, MAPPING, CELL = (TYPES[name] for name in NAMES)
PARAMETERS = {"a": INT, "c": BOOL, "x": VECTOR, "m": MATRIX, "xs": LIST, "o": OPTION, "t": TREE}


def random_model(seed: int, size: int = 30) -> Model:
    """A model of about so many nodes; the same for the same seed."""
    return _Random(seed, size).model()


def random_arguments(seed: int) -> tuple[Any, ...]:
    """Arguments of such a model: n is 0 to 4, the list has up to 3 elements."""
    random = np.random.default_rng([seed, 1])
    n = int(random.integers(0, 5))

    def vector() -> np.ndarray:
        return random.standard_normal(n).astype(np.float32)

    def tree(depth: int) -> Any:
        if depth == 0 or random.random() < 0.3:
            return None
        return (float(np.float32(random.standard_normal())), tree(depth - 1), tree(depth - 1))

    xs = [vector() for _ in range(random.integers(0, 4))]
    option = None if random.random() < 0.5 else 0.25
    m = random.standard_normal((n, 3)).astype(np.float32)
    return int(random.integers(-3, 4)), bool(random.random() < 0.5), vector(), m, xs, option, tree(3)


class _Random:
    """Makes terms; `pool` holds what may be used again, by type."""

    def __init__(self, seed: int, size: int) -> None:
        self.random = np.random.default_rng([seed, 0])
        self.left = size
        self.pool: list[tuple[Type, Term]] = []

    def model(self) -> Model:
        """Parameters, a tuple of results, and the helpers."""
        parameters = tuple(Variable(name, of) for name, of in PARAMETERS.items())
        self.pool = [(each.type, each) for each in parameters if each.type is not None]
        cell = Variable("shared_cell")
        self.pool.append((CELL, cell))
        kinds = [INT, *(self.choose([INT, FLOAT, VECTOR, MATRIX, LIST, PICK, PAIR]) for _ in range(3)), INT]
        results = tuple(map(self.term, kinds))
        body = Tuple((*results, ReadReference(cell)))
        main = Function(parameters, Let(cell, NewReference(Constant(np.array(0, np.int32))), body))
        return Model({**_HELPERS.functions, "main": main}, _HELPERS.definitions)

    def choose(self, among: list[Any]) -> Any:
        """One of them."""
        return among[int(self.random.integers(len(among)))]

    def chance(self, of: float) -> bool:
        """True so often."""
        return bool(self.random.random() < of)

    def term(self, of: Type) -> Term:
        """A term of a type: known, plain, or made of others."""
        self.left -= 1
        known = [term for kind, term in self.pool if kind == of]
        if known and (self.left < 0 or self.chance(0.35)):
            return self.choose(known)
        if self.left < 0:
            made = self.plain(of)
        elif self.chance(0.45):
            made = self.choose(
                [self._if, self._let, self._match, self._applied, self._cell, self._write, self._projected]
            )(of)
        else:
            made = self.made(of)
        self.pool.append((of, made))
        return made

    def within(self, variables: list[tuple[Type, Term]], of: Type) -> Term:
        """A term in which variables are in scope; what is made of them is forgotten behind."""
        length = len(self.pool)
        self.pool += variables
        found = self.term(of)
        del self.pool[length:]
        return found

    # --- by construct

    def _if(self, of: Type) -> Term:
        return If(self.term(BOOL), self.term(of), self.term(of))

    def _let(self, of: Type) -> Term:
        kind = self.choose(list(TYPES.values()))
        variable, value = Variable(self.choose(["u", "v", "w"])), self.term(kind)
        return Let(variable, value, self.within([(kind, variable)], of))

    def _cell(self, of: Type) -> Term:
        cell, old = Variable("cell"), Variable("old")
        write = WriteReference(cell, self.term(INT))
        body = self.within([(CELL, cell), (INT, old), (INT, ReadReference(cell))], of)
        return Let(cell, NewReference(self.term(INT)), Let(old, ReadReference(cell), Let(Variable("_"), write, body)))

    def _write(self, of: Type) -> Term:
        """A cell that others read as well is written to, in between."""
        cells = [term for kind, term in self.pool if kind == CELL and isinstance(term, Variable)]
        cell = self.choose(cells)
        new = Call(Primitive(infix("+")), (ReadReference(cell), self.term(INT)))
        return Let(Variable("_"), WriteReference(cell, new), self.within([(INT, ReadReference(cell))], of))

    def _match(self, of: Type) -> Term:
        kind = self.choose([LIST, OPTION, PICK, TREE, PAIR])
        return Match(self.term(kind), tuple(self._clause(*case, of) for case in self._cases(kind)))

    def _cases(self, kind: Type) -> list[tuple[Pattern, list[tuple[Type, Term]]]]:
        v = [Variable(name) for name in ("p", "q", "r")]
        b = [Binder(each) for each in v]
        any_ = Wildcard()
        match kind:
            case DataType("List"):
                two = Construction("Cons", (b[0], Construction("Cons", (b[1], any_))))
                one = Construction("Cons", (Binder(v[2]), any_))
                return [(two, [(VECTOR, v[0]), (VECTOR, v[1])]), (one, [(VECTOR, v[2])]), (Construction("Nil"), [])]
            case DataType("Option"):
                return [(Construction("None"), []), (Construction("Some", (b[0],)), [(FLOAT, v[0])])]
            case DataType("Pick"):
                both = Construction("Both", (b[0], b[1]))
                return [(both, [(VECTOR, v[0]), (VECTOR, v[1])]), (Binder(v[2]), [(PICK, v[2])])]
            case DataType("Tree"):
                node = Construction("Node", (b[0], Construction("Leaf"), b[1]))
                return [(node, [(FLOAT, v[0]), (TREE, v[1])]), (any_, [])]
            case _:
                return [(Items((b[0], b[1])), [(INT, v[0]), (VECTOR, v[1])])]

    def _clause(self, pattern: Pattern, bound: list[tuple[Type, Term]], of: Type) -> Clause:
        return Clause(pattern, self.within(bound, of))

    def _applied(self, of: Type) -> Term:
        kind = self.choose([INT, FLOAT, VECTOR])
        parameter = Variable("y", kind)
        function = Function((parameter,), self.within([(kind, parameter)], of))
        if self.chance(0.5):
            return Call(function, (self.term(kind),))
        name = Variable("f")
        return Let(name, function, Call(name, (self.term(kind),)))

    def _projected(self, of: Type) -> Term:
        return Projection(Tuple((self.term(INT), self.term(of))), 1)

    # --- by type

    def plain(self, of: Type) -> Term:
        """The smallest term of a type, made of parameters and constants."""
        x = next(term for kind, term in self.pool if kind == VECTOR)
        match of:
            case DataType("Pick"):
                return Call(Constructor("Neither"), ())
            case DataType("Option"):
                return Call(Constructor("None"), ())
            case DataType("List"):
                return Call(Constructor("Nil"), ())
            case DataType("Tree"):
                return Call(Constructor("Leaf"), ())
            case TupleType():
                return Tuple((Constant(np.array(7, np.int32)), x))
            case FunctionType():
                return Primitive(OPERATORS["softplus"])
            case ReferenceType():
                return NewReference(Constant(np.array(1, np.int32)))
            case _ if of == BOOL:
                return Constant(np.array(True))
            case _ if of == INT:
                return Constant(np.array(int(self.random.integers(-3, 4)), np.int32))
            case _ if of == FLOAT:
                return Constant(np.array(self.random.standard_normal(), np.float32))
            case _ if of == MATRIX:
                return self.call("rows", x, Constant(np.array([1, -2, 0.5], np.float32)))
            case _:
                return x

    def call(self, name: str, *arguments: Term, label: str = "") -> Call:
        """A call of one of the operators."""
        return Call(Primitive(OPERATORS[name]), arguments, label=label)

    def made(self, of: Type) -> Term:
        """A term that makes a value of the type of others."""
        ways: dict[Type, list[Callable[[], Term]]] = {
            INT: [self._arithmetic, self._read, self._read, lambda: Projection(self.term(PAIR), 0)],
            FLOAT: [
                lambda: self.call("total", self.term(VECTOR)),
                lambda: Call(Global("leaves"), (self.term(TREE),)),
                lambda: self.call("number", self.term(INT)),
                lambda: Call(Primitive(infix(self.choose(["+", "-", "*"]))), (self.term(FLOAT), self.term(FLOAT))),
            ],
            BOOL: [
                lambda: Call(Primitive(infix(self.choose(["<", ">=", "=="]))), (self.term(INT), self.term(INT))),
                lambda: Call(Primitive(infix(self.choose(["&&", "||"]))), (self.term(BOOL), self.term(BOOL))),
            ],
            VECTOR: [
                lambda: self.call("add1", self.term(VECTOR), self.term(VECTOR), label=self.choose(["", "sum", "a.1"])),
                lambda: self.call("scale1", self.term(VECTOR), self.term(FLOAT)),
                lambda: self.call("spread", self.term(FLOAT), self.term(VECTOR)),
                lambda: self.call(self.choose(["softplus", "gelu_tanh"]), self.term(VECTOR)),
                lambda: self.call("column", self.term(MATRIX)),
                lambda: Projection(self.call("halves", self.term(VECTOR)), int(self.random.integers(2))),
                lambda: Projection(self.term(PAIR), 1),
                lambda: Call(self.term(MAPPING), (self.term(VECTOR),)),
                lambda: Call(Global("repeat"), (self.small(), self.term(MAPPING), self.term(VECTOR))),
                lambda: Call(Global("fold"), (Primitive(OPERATORS["add1"]), self.term(VECTOR), self.term(LIST))),
            ],
            MATRIX: [
                lambda: self.call("softmax", self.term(MATRIX)),
                lambda: self.call("matmul", self.term(MATRIX), Constant(np.eye(3, k=1, dtype=np.float32))),
            ],
            LIST: [
                lambda: Call(Constructor("Cons"), (self.term(VECTOR), self.term(LIST))),
                lambda: Call(Global("map"), (self.term(MAPPING), self.term(LIST))),
            ],
            OPTION: [lambda: Call(Constructor("Some"), (self.term(FLOAT),))],
            PICK: [
                lambda: Call(Constructor("One"), (self.term(VECTOR),)),
                lambda: Call(Constructor("Both"), (self.term(VECTOR), self.term(VECTOR))),
            ],
            TREE: [lambda: Call(Constructor("Node"), (self.term(FLOAT), self.term(TREE), self.term(TREE)))],
            PAIR: [lambda: Tuple((self.term(INT), self.term(VECTOR)))],
            MAPPING: [self._mapping],
            CELL: [lambda: NewReference(self.term(INT))],
        }
        found = ways.get(of)
        return self.choose(found)() if found and not self.chance(0.1) else self.plain(of)

    def small(self) -> Term:
        """A number of repetitions."""
        return Constant(np.array(int(self.random.integers(0, 4)), np.int32))

    def _read(self) -> Term:
        return ReadReference(self.term(CELL))

    def _arithmetic(self) -> Term:
        sign = self.choose(["+", "-", "*", "/", "%"])
        return Call(Primitive(infix(sign)), (self.term(INT), self.term(INT)))

    def _mapping(self) -> Term:
        parameter = Variable("z", VECTOR)
        return Function((parameter,), self.within([(VECTOR, parameter)], VECTOR))
