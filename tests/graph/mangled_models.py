"""Random models with something to do for passes: known arguments, nodes that are computed twice, small functions."""

from __future__ import annotations

import numpy as np

from tests.graph.random_models import HELPERS, OPERATORS, random_model
from workbench.graph import Model, model
from workbench.graph.terms.nodes import Call, Constant, Constructor, Function, Global, Let, Primitive, Term, Variable
from workbench.graph.terms.walking import operands, postorder, with_operands

_SMALL = model(HELPERS + """
def add1<T: numbers>(T(N) x, T(N) y) -> (z) { z(i) = x(i) + y(i) }
fn self<a>(x: a) -> a { x }
fn apply<a, b>(f: fn(a) -> b, x: a) -> b { f(x) }
fn plus(x: float32[k], y: float32[k]) -> float32[k] { add1(x, y) }
fn inferred(x) { softplus(x) }
""").functions
SMALL = {name: _SMALL[name] for name in ("self", "apply", "plus", "inferred")}


def mangled_model(seed: int) -> Model:
    """The random model of a seed, with more for passes to do; it takes the same arguments."""
    random = np.random.default_rng([seed, 3])
    first = random_model(seed)
    main = first.main
    made = _known_arguments(_disguised(main, random), random)
    functions = {name: each for name, each in first.functions.items() if each is not main}
    return Model({**functions, **SMALL, first.entry: made}, first.definitions)


def _disguised(function: Function, random: np.random.Generator) -> Function:
    """Some uses of a call become calls of their own, and some calls go through small functions."""
    found: dict[Term, Term] = {}

    def use(node: Term) -> Term:
        new = found[node]
        if isinstance(new, Call) and isinstance(new.function, Primitive) and random.random() < 0.4:
            return Call(new.function, new.arguments, new.sizes, new.label)
        return new

    for node in postorder(function):
        new = with_operands(node, tuple(map(use, operands(node))))
        match new:
            case Call(Primitive(op), arguments) if random.random() < 0.3:
                if op == OPERATORS["add1"]:
                    new = Call(Global("plus"), arguments)
                elif op == OPERATORS["softplus"]:
                    new = Call(Global("inferred"), arguments)
                elif len(arguments) == 1:
                    new = Call(Global("apply"), (new.function, arguments[0]))
                else:
                    new = Call(Global("self"), (new,))
            case _:
                pass
        found[node] = new
    made = found[function]
    assert isinstance(made, Function)
    return made


def _known_arguments(function: Function, random: np.random.Generator) -> Function:
    """Some parameters are bound to what the model knows."""
    body, parameters = function.body, list(function.parameters)
    x = next(each for each in parameters if each.name == "x")
    known: dict[str, Term] = {
        "a": Constant(np.array(int(random.integers(-3, 4)), np.int32)),
        "c": Constant(np.array(bool(random.integers(2)))),
        "xs": _cons(x, _cons(x, Call(Constructor("Nil"), ()))),
        "o": Call(Constructor("Some"), (Constant(np.array(0.5, np.float32)),)),
        "t": Call(Constructor("Node"), (Constant(np.array(2, np.float32)), _leaf(), _leaf())),
    }
    for at, variable in enumerate(parameters):
        if variable.name in known and random.random() < 0.5:
            parameters[at] = Variable(variable.name, variable.type)
            body = Let(variable, known[variable.name], body)
    return Function(tuple(parameters), body, function.result, function.quantified)


def _cons(first: Term, rest: Term) -> Term:
    return Call(Constructor("Cons"), (first, rest))


def _leaf() -> Term:
    return Call(Constructor("Leaf"), ())
