"""What the new program has of values: blocks, names, functions and cells that must exist when it runs."""

from __future__ import annotations

from collections.abc import Callable

from workbench.graph.forms.rebinding import hint
from workbench.graph.forms.scopes import Scopes
from workbench.graph.models import Model
from workbench.graph.passes.support.partial.calling import Scope
from workbench.graph.passes.support.partial.values import (
    Activation,
    Block,
    Built,
    Cell,
    Closure,
    Entered,
    Escapes,
    Knot,
    Residual,
    Tupled,
    Value,
)
from workbench.graph.terms.nodes import Call, Constructor, Function, NewReference, Term, Tuple, Variable
from workbench.graph.terms.walking import Steps

Making = Callable[[], Steps[Value]]


class Writing:
    """Writes the new program into `block`; `active` are the functions that are being evaluated, outermost first.

    `writing` are functions that are being written, each with its block, `emptying` cells whose contents are, `real`
    the nodes whose cells the new program has from the beginning.
    """

    def __init__(self, model: Model) -> None:
        self.active: list[Entered] = []
        self.block = Block()
        self.scope = Scope(model)
        self.real: set[Term] = set()
        self.writing: dict[Closure, Block] = {}
        self.emptying: list[Cell] = []

    def body(self, node: Term, code: Scopes, around: Activation, at: int = 0) -> Steps[Value]:
        """The value of a block of a node: the body of a function, a branch or a case."""
        raise NotImplementedError

    def emitted(self, node: Term, new: Term) -> Value:
        """A value that the new program computes."""
        return Residual(self.block.emit(hint(node), new))

    def inside(self, make: Making, *, is_function: bool = False) -> Steps[Term]:
        """A block of the new program; a cell of the block around that it does more than read becomes a real one."""
        around, active = self.block, list(self.active)
        while True:
            self.block = Block(around, is_function)
            try:
                result = yield make()
                return self.block.term((yield self.written(result)))
            except Escapes as escaping:
                if escaping.cell.block is not around:
                    raise
                self.block, self.active = around, list(active)
                yield self._made_real(escaping.cell)
            finally:
                self.block = around

    def _made_real(self, cell: Cell) -> Steps[Variable]:
        """A cell of this block as one that the new program makes here, with what it holds by now."""
        known = self.block.name_of(cell)
        if known is not None:
            return known
        if cell.block is not self.block:
            raise Escapes(cell)
        if cell in self.emptying:
            raise Knot(cell.made_by)
        self.emptying.append(cell)
        try:
            contents = yield self.written(self.block.contents[cell])
        finally:
            self.emptying.pop()
        known = self.block.real[cell] = self.block.emit("cell", NewReference(contents))
        del self.block.contents[cell]
        return known

    # --- values as terms of the new program

    def written(self, value: Value) -> Steps[Term]:
        """An atom of the new program that has the value."""
        match value:
            case Residual(term):
                return term
            case Built(constructor, ()):
                return Call(Constructor(constructor), ())
            case Cell():
                return (yield self._made_real(value))
        known = self.block.find(value)
        if isinstance(value, Closure) and self.writing.get(value) is self.block:
            raise Knot(self.emptying[-1].made_by)
        if known is not None:
            return known
        match value:
            case Tupled(items):
                terms: list[Term] = []
                for each in items:
                    terms.append((yield self.written(each)))
                made = self.block.emit("pair", Tuple(tuple(terms)))
            case Built(constructor, fields):
                terms = []
                for each in fields:
                    terms.append((yield self.written(each)))
                made = self.block.emit(constructor.lower(), Call(Constructor(constructor), tuple(terms)))
            case Closure():
                made = yield self._function(value)
        self.block.written[value] = made
        return made

    def _function(self, closure: Closure) -> Steps[Variable]:
        """A function of the new program, under a name by which it may call itself."""
        function, block = closure.function, self.block
        own = self.scope.declared(closure)
        variables = tuple(Variable(each.name, own.of(each.type)) for each in function.parameters)
        name = Variable("f")
        block.written[closure] = name
        values: dict[Term, Value] = {
            each: Residual(new) for each, new in zip(function.parameters, variables, strict=True)
        }
        around = Activation(values, closure.around, own.meaning, own.names)
        self.active.append(Entered(function, block.depth, is_written=True))
        self.writing[closure] = block
        try:
            body = yield self.inside(lambda: self.body(function, closure.code, around), is_function=True)
        finally:
            block.written.pop(closure, None)
            self.writing.pop(closure, None)
        self.active.pop()
        block.bound.append((name, Function(variables, body, own.of(function.result), own.quantified)))
        return name
