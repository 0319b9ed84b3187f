"""The evaluator: blocks of nodes in their order, as the interpreter takes them; what is not known is written down."""

from __future__ import annotations

from workbench.graph.forms.scopes import Scopes, scopes, value_node
from workbench.graph.models import Model
from workbench.graph.passes.support.computing import computed
from workbench.graph.passes.support.partial.calling import entering
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
    Undecided,
    Value,
    fits,
)
from workbench.graph.passes.support.partial.writing import Writing
from workbench.graph.terms.dimensions import replaced
from workbench.graph.terms.nodes import (
    ATOMS,
    Call,
    Clause,
    Constant,
    Constructor,
    Function,
    Global,
    If,
    Let,
    Match,
    NewReference,
    Primitive,
    Projection,
    ReadReference,
    Term,
    Tuple,
    Variable,
    WriteReference,
    bound_by,
)
from workbench.graph.terms.types import TensorType
from workbench.graph.terms.walking import Steps, renewed_pattern
from workbench.graph.typing.schemes import Meaning


class Evaluator(Writing):
    """Evaluates the functions of a model one by one; `calls` is how many calls it may still enter."""

    def __init__(self, model: Model, calls: int) -> None:
        super().__init__(model)
        self.model, self.types, self.calls = model, model.typing.types, calls
        self.codes: dict[str, Scopes] = {}

    def code(self, name: str) -> Scopes:
        """The blocks of a function of the model."""
        if name not in self.codes:
            self.codes[name] = scopes(self.model.functions[name])
        return self.codes[name]

    def function(self, name: str) -> Steps[Function]:
        """The function of a name, with what is known in it computed."""
        while True:
            try:
                return (yield self._function_of(name))
            except Knot as knot:
                self.real.add(knot.made_by)
                self.writing = {}

    def _function_of(self, name: str) -> Steps[Function]:
        function, self.block = self.model.functions[name], Block(is_function=True)
        self.active = [Entered(function, 0, is_written=True)]
        values: dict[Term, Value] = {each: Residual(each) for each in function.parameters}
        names = frozenset(each.name for each in self.model.scheme_of(name).variables)
        around = Activation(values, None, Meaning(), names)
        code = self.code(name)
        result = yield self.body(function, code, around)
        body = self.block.term((yield self.written(result)))
        return Function(function.parameters, body, function.result, function.quantified, function.span)

    # --- blocks

    def body(self, node: Term, code: Scopes, around: Activation, at: int = 0) -> Steps[Value]:
        """The value of a block of a node: the body of a function, a branch or a case."""
        for each in code.blocks[code.inner[node, at]]:
            around.values[each] = yield self.node(each, code, around)
            if isinstance(each, Let):
                around.values[each.variable] = self.value(each.value, around)
        match node:
            case If(_, then, otherwise):
                return self.value(then if at == 1 else otherwise, around)
            case Match(_, clauses):
                return self.value(clauses[at - 1].body, around)
            case _:
                assert isinstance(node, Function)
                return self.value(node.body, around)

    def value(self, term: Term, around: Activation) -> Value:
        """The value that a term has by now."""
        term = value_node(term)
        found = around.find(term)
        if found is not None:
            return found
        assert isinstance(term, ATOMS), term
        return Residual(term)

    def node(self, node: Term, code: Scopes, around: Activation) -> Steps[Value]:
        """The value of one node of a block."""
        match node:
            case Function():
                return Closure(node, around, code)
            case Let():
                return Tupled(())
            case Tuple(items):
                return Tupled(tuple(self.value(each, around) for each in items))
            case Projection(of, index):
                found = self.value(of, around)
                if isinstance(found, Tupled):
                    return found.items[index]
                return self.emitted(node, Projection((yield self.written(found)), index))
            case If():
                return (yield self._if(node, code, around))
            case Match():
                return (yield self._match(node, code, around))
            case Call():
                return (yield self._call(node, around))
            case _:
                return (yield self._cell(node, around))

    # --- choices

    def _if(self, node: If, code: Scopes, around: Activation) -> Steps[Value]:
        condition = self.value(node.condition, around)
        assert isinstance(condition, Residual)
        if isinstance(condition.term, Constant):
            return (yield self.body(node, code, around, 1 if condition.term.array else 2))
        then = yield self.inside(lambda: self.body(node, code, around, 1))
        otherwise = yield self.inside(lambda: self.body(node, code, around, 2))
        return self.emitted(node, If(condition.term, then, otherwise, node.span))

    def _match(self, node: Match, code: Scopes, around: Activation) -> Steps[Value]:
        value = self.value(node.value, around)
        for at, clause in enumerate(node.clauses):
            bound: dict[Term, Value] = {}
            found = fits(clause.pattern, value, bound)
            if found:
                around.values.update(bound)
                return (yield self.body(node, code, around, at + 1))
            if found is None:
                break
        # All cases stay, even one that cannot fit: together they must cover every value of the type.
        term = yield self.written(value)
        clauses: list[Clause] = []
        for at in range(len(node.clauses)):
            clauses.append((yield self._clause(node, code, around, at)))
        return self.emitted(node, Match(term, tuple(clauses), node.span))

    def _clause(self, node: Match, code: Scopes, around: Activation, at: int) -> Steps[Clause]:
        clause = node.clauses[at]
        known: dict[Variable, Term] = {each: Variable(each.name) for each in bound_by(clause.pattern)}
        around.values.update({each: Residual(new) for each, new in known.items()})
        body = yield self.inside(lambda: self.body(node, code, around, at + 1))
        return Clause(renewed_pattern(clause.pattern, known), body, clause.span)

    # --- cells

    def _cell(self, node: Term, around: Activation) -> Steps[Value]:
        match node:
            case NewReference(value):
                if node in self.real:
                    return self.emitted(node, NewReference((yield self.written(self.value(value, around)))))
                cell = Cell(self.block, node)
                self.block.contents[cell] = self.value(value, around)
                return cell
            case ReadReference(reference):
                return (yield self._read(node, self.value(reference, around)))
            case WriteReference(reference, value):
                return (yield self._write(node, self.value(reference, around), self.value(value, around)))
            case _:
                raise AssertionError(node)

    def _read(self, node: Term, cell: Value) -> Steps[Value]:
        if isinstance(cell, Cell) and self.block.name_of(cell) is None:
            found = self.block.reads(cell)
            if found is None:
                raise Escapes(cell)
            return found
        return self.emitted(node, ReadReference((yield self.written(cell))))

    def _write(self, node: Term, cell: Value, value: Value) -> Steps[Value]:
        if isinstance(cell, Cell) and self.block.name_of(cell) is None:
            if cell.block is not self.block:
                raise Escapes(cell)
            self.block.contents[cell] = value
            return Tupled(())
        term = yield self.written(value)
        return self.emitted(node, WriteReference((yield self.written(cell)), term))

    # --- calls

    def _call(self, node: Call, around: Activation) -> Steps[Value]:
        callee = self.value(node.function, around)
        arguments = tuple(self.value(each, around) for each in node.arguments)
        match callee:
            case Residual(Constructor(name)):
                return Built(name, arguments)
            case Residual(Global(name)):
                function = self.model.functions[name]
                entered = entering(self.scope, node, around, name)
                code, outer = self.code(name), None
            case Closure(function, outer, code):
                entered = entering(self.scope, node, around, callee)
            case _:
                return (yield self._computed(node, callee, arguments, around))
        if entered is None or self._stays(function):
            return (yield self._computed(node, callee, arguments, around))
        values: dict[Term, Value] = dict(zip(function.parameters, arguments, strict=True))
        inner = Activation(values, outer, entered.meaning, entered.names)
        return (yield self._entered(node, callee, arguments, around, function, code, inner))

    def _stays(self, function: Function) -> bool:
        """Whether a call stays one; Undecided if that of a call around has to."""
        last = next((each for each in reversed(self.active) if each.function is function), None)
        if last is not None and last.depth < self.block.depth:
            if not last.is_written:
                raise Undecided(last)
            return True
        self.calls -= 1
        return self.calls < 0

    def _entered(
        self, node: Call, callee: Value, arguments: tuple[Value, ...], around: Activation, function: Function,
        code: Scopes, inner: Activation,
    ) -> Steps[Value]:  # fmt: skip
        """The body of a function in place of its call, unless it turns out to go on for as long as only a run tells."""
        block, state, active = self.block, self.block.state(), list(self.active)
        entry = Entered(function, block.depth)
        self.active.append(entry)
        try:
            found = yield self.body(function, code, inner)
            self.active = active
            return found
        except Undecided as undecided:
            if undecided.entered is not entry:
                raise
            self.block, self.active = block, active
            block.restore(state)
        return (yield self._computed(node, callee, arguments, around))

    def _computed(
        self, node: Call, callee: Value, arguments: tuple[Value, ...], around: Activation
    ) -> Steps[Value]:  # fmt: skip
        """A call that the new program makes; of an operator on constants that gives a number, the number."""
        function = yield self.written(callee)
        terms: list[Term] = []
        for each in arguments:
            terms.append((yield self.written(each)))
        sizes = tuple((name, replaced(size, around.meaning.dims)) for name, size in node.sizes)
        new = Call(function, tuple(terms), sizes, node.label, node.span)
        of = self.types[node]
        if isinstance(function, Primitive) and all(isinstance(each, Constant) for each in terms):
            value = computed(new) if isinstance(of, TensorType) and not of.dims else None
            if value is not None:
                return Residual(Constant(value))
        return self.emitted(node, new)
