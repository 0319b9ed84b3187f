"""`common_subexpressions`: what is computed twice is computed once."""

from __future__ import annotations

from collections.abc import Hashable
from hashlib import sha256

from workbench.graph.forms.scopes import Scope, common_scope, scopes
from workbench.graph.models import Model
from workbench.graph.passes.support.effects import Quiet
from workbench.graph.passes.support.model_pass import ModelPass
from workbench.graph.passes.support.rewriting import each_function, rewritten
from workbench.graph.terms.nodes import (
    Call,
    Constant,
    Constructor,
    Function,
    Global,
    Primitive,
    Projection,
    Term,
    Tuple,
    Variable,
)
from workbench.graph.terms.types import Type
from workbench.graph.terms.walking import with_operands
from workbench.records import record


@record
class CommonSubexpressions(ModelPass):
    """Two nodes that compute the same of the same become one, where the scope of one lies in that of the other.

    before → after:  (f(x), f(x))   →   %n = f(x); (%n, %n)

    Nodes of two branches stay: neither is computed where the other is.  What reads cells, or calls what might, is not
    the same twice; what is computed from one reading of a cell is.
    """

    def apply(self, model: Model) -> Model:
        return each_function(model, _Merging(model).function)


def common_subexpressions() -> CommonSubexpressions:
    """What two nodes compute of the same is computed once."""
    return CommonSubexpressions()


class _Merging:
    """`places` are the nodes that stand for a key by now, each with the scope of all that it stands for."""

    def __init__(self, model: Model) -> None:
        self.quiet, self.types = Quiet(model), model.typing.types
        self.contents: dict[Term, Hashable] = {}

    def function(self, function: Function) -> Function:
        """The function with its equal nodes merged."""
        home = scopes(function).home
        places: dict[Hashable, list[tuple[Term, Scope]]] = {}

        def change(node: Term, inside: tuple[Term, ...]) -> Term:
            new = with_operands(node, inside)
            key = self.key(node, new)
            if key is None:
                return new
            known = places.setdefault(key, [])
            for at, (other, scope) in enumerate(known):
                both = common_scope(scope, home[node])
                if both is scope or both is home[node]:
                    known[at] = (other, both)
                    return other
            known.append((new, home[node]))
            return new

        return rewritten(function, change)

    def key(self, node: Term, new: Term) -> Hashable | None:
        """What a node computes; None where two of them are not one."""
        match new:
            case Call(Primitive() | Constructor() | Global(), arguments, sizes) if self.quiet.node(node) and (
                arguments or isinstance(new.function, Primitive)
            ):
                return self.atom(new.function), tuple(map(self.atom, arguments)), sizes, self.types[node]
            case Tuple(items):
                return "tuple", tuple(map(self.atom, items)), self._type(node)
            case Projection(of, index):
                return "item", self.atom(of), index
            case _:
                return None

    def _type(self, node: Term) -> Type:
        return self.types[node]

    def atom(self, term: Term) -> Hashable:
        """What an operand is: of a constant its contents, of any other node the node."""
        match term:
            case Constant(array):
                if term not in self.contents:
                    self.contents[term] = (array.dtype, array.shape, sha256(array.tobytes()).digest())
                return self.contents[term]
            case Primitive(operator):
                return operator
            case Global(name) | Constructor(name):
                return type(term).__name__, name
            case Call(Constructor(name), ()):
                return name, self.types.get(term)
            case Variable():
                return term
            case _:
                return term
