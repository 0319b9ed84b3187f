"""A builder of models that also builds loops: local functions that call themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.graph.building import Builder
from workbench.graph.terms.nodes import Call, Function, If, Let, Term, Tuple
from workbench.graph.terms.types import FunctionType, TupleType, Type


class LoopBuilder(Builder):
    """Builds one function of a model, with loops."""

    def loop(
        self, name: str, initial: Sequence[Term], names: Sequence[str], test: Callable[..., Term],
        body: Callable[..., Sequence[Term]],
    ) -> list[Term]:  # fmt: skip
        """The state after `while test(*state): state = body(*state)`, whose types stay the same.

        It is `let name = fn(state) { if test { name(body) } else { state } }; name(initial)`, wherever it stands.
        """
        types = [self.type_of(term) for term in initial]
        result: Type = TupleType(tuple(types))
        itself = self._variable(name, FunctionType(tuple(types), result))
        state = [self._variable(each, of) for each, of in zip(names, types, strict=True)]
        again = self._made(Call(itself, tuple(body(*state))))
        inside = self._made(If(test(*state), again, Tuple(tuple(state))))
        function = Function(tuple(state), inside, result)
        ended = self._made(Let(itself, function, Call(itself, tuple(initial))))
        return [self.project(ended, at) for at in range(len(types))]
