"""Statements as nodes of ONNX: all instances at once; where they depend on each other, one after another in a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from onnx import TensorProto, helper

from workbench.export.ort.body.contractions import MOST_AXES, contraction
from workbench.export.ort.body.domains import Domain, hull, ranges_domain
from workbench.export.ort.body.elementwise import Named, computing_type
from workbench.export.ort.body.graph import Graph, graph_value
from workbench.export.ort.body.values import Cells, Values
from workbench.export.ort.body.writes import accumulated, apart, identity, one_number_tensor, reduced, replaced
from workbench.export.ort.model import onnx_type
from workbench.lang.algebra.identities import combined
from workbench.lang.algebra.identities import identity as identity_of
from workbench.lang.dtypes import BOOL, DType
from workbench.lang.expr import Index, Read, index_names
from workbench.lang.operator import For, Monoid, Operator, Range, Statement, Step, Target
from workbench.lang.oracle.contractions import factors
from workbench.lang.oracle.order import own_reads, serial_indices


@dataclass
class Body:
    """Where the operator stands: the graph, sizes and indices that have one value, and what its tensors hold."""

    op: Operator
    graph: Graph
    fixed: Mapping[str, str]
    memory: dict[str, Cells]

    def steps(self, steps: Iterable[Step]) -> None:
        """Write statements and loops in their order."""
        for step in steps:
            if isinstance(step, Statement):
                self.statement(step)
                continue
            start, length = hull(Values(self.graph, (), self.fixed, self.memory), step.axis)
            body = step.body
            self.loop(step.axis.index, start, length, written(body), lambda inner, body=body: inner.steps(body))

    # -- one after the other

    def loop(
        self, index: str, start: str, length: str, tensors: Sequence[str], write: Callable[[Body], None]
    ) -> None:
        """`for index in start:start + length`, of a body that changes some tensors."""
        graph = self.graph.inner()
        number, again = graph.fresh("number"), graph.fresh("again")
        carried = {name: replace(self.memory[name], name=graph.fresh(name)) for name in tensors}
        inner = Body(self.op, graph, {**self.fixed, index: graph("Add", start, number)}, {**self.memory, **carried})
        write(inner)
        types = [(onnx_type(computing_type(c.dtype)), len(c.extent)) for c in carried.values()]
        inputs = [graph_value(number, TensorProto.INT64, 0), graph_value(again, TensorProto.BOOL, 0)]
        inputs += [graph_value(c.name, *of) for c, of in zip(carried.values(), types, strict=True)]
        results = [graph.result(inner.memory[name].name) for name in tensors]
        outputs = [graph_value(graph.result(again), TensorProto.BOOL, 0)]
        outputs += [graph_value(r, *of) for r, of in zip(results, types, strict=True)]
        after = [graph.fresh(name) for name in tensors]
        before = [self.memory[name].name for name in tensors]
        body = graph.proto(graph.fresh("body"), inputs, outputs)
        self.graph.nodes.append(helper.make_node("Loop", [length, "", *before], after, body=body))
        for name, found in zip(tensors, after, strict=True):
            self.memory[name] = replace(self.memory[name], name=found)

    def statement(self, statement: Statement) -> None:
        """One statement: its cells are set to the identity first where it says so."""
        if statement.initialise and not self._begins_whole(statement):
            self._initialise(statement)
        serial = self._serial(statement)
        tensors = [t.tensor for t in statement.targets]
        self._nested(statement, [r for r in _free(statement) if r.index in serial], tensors)

    def _nested(self, statement: Statement, serial: list[Range], tensors: Sequence[str]) -> None:
        if not serial:
            self._at_once(statement)
            return
        first, *rest = serial
        ranges = statement.ranges
        before = ranges[: [r.index for r in ranges].index(first.index)]
        around = ranges_domain(self.graph, [r for r in before if r.kind != "sequential"], self.fixed, self.memory, None)
        start, length = hull(around.values, first)
        self.loop(first.index, start, length, tensors, lambda inner: inner._nested(statement, rest, tensors))

    def _serial(self, statement: Statement) -> set[str]:
        """Indices to run one value after another, so that all others may run together."""
        every = [r.index for r in _free(statement)]
        own = own_reads(statement)
        found = serial_indices(statement, own) if own else frozenset()
        serial = set(every if found is None else found) & set(every)
        plain = isinstance(statement.reduction, str)
        if isinstance(statement.reduction, Monoid):
            serial |= set(statement.indices("reduction"))
        while not plain:
            meeting = [a for t in statement.targets for a in apart(self.op, t, [i for i in every if i not in serial])]
            if not meeting:
                break
            serial.add(next(i for i in every if i in meeting))
        return serial

    # -- at once

    def _domain(self, statement: Statement) -> Domain:
        return ranges_domain(self.graph, _free(statement), self.fixed, self.memory, statement.condition)

    def _at_once(self, statement: Statement) -> None:
        domain = self._domain(statement)
        if isinstance(statement.reduction, str):
            self._reduce(statement, domain)
            return
        guarded = domain.mask is not None
        found = [domain.values.value(v, guarded=guarded) for v in statement.values]
        if statement.reduction is not None:
            found = self._combined(statement, domain, found)
        names = [replaced(domain, t, self.memory[t.tensor], v) for t, v in zip(statement.targets, found, strict=True)]
        for target, name in zip(statement.targets, names, strict=True):
            self._hold(target, name)

    def _hold(self, target: Target, name: str) -> None:
        self.memory[target.tensor] = replace(self.memory[target.tensor], name=name)

    def _combined(self, statement: Statement, domain: Domain, found: list[Named]) -> list[Named]:
        """What a tuple reduction makes of the cells and one contribution to each."""
        monoid, values = statement.reduction, domain.values
        assert isinstance(monoid, Monoid)
        guarded = domain.mask is not None
        old = [self._cells(values, t, guarded) for t in statement.targets]
        known = dict(zip((*monoid.left, *monoid.right), (*old, *found), strict=True))
        fields = _Fields(values.graph, values.order, values.fixed, values.memory, values.axes, given=known)
        return [fields.value(e) for e in monoid.combine]

    def _cells(self, values: Values, target: Target, guarded: bool) -> Named:
        cells = self.memory[target.tensor]
        return values.cells(cells, target.subscripts, guarded=guarded)

    # -- reductions

    def _reduce(self, statement: Statement, domain: Domain) -> None:
        """Contributions to a cell are combined along the axes that its subscripts lack, then with the cell."""
        target, reduction, values = statement.targets[0], str(statement.reduction), domain.values
        kept = {name for s in target.subscripts for name in index_names(s)}
        cells = self.memory[target.tensor]
        along = [] if _rounds(statement, cells.dtype) else [a for a in values.order if a not in kept]
        value = self._contracted(statement, values, along) if domain.mask is None else None
        if value is None:
            value = self._along(statement, domain, along)
        mask = domain.mask and reduced(values, domain.mask, [a for a in along if a in domain.mask.axes], "max", BOOL)
        rest = Domain(values, mask)
        left = [a for a in values.order if a not in along]
        if apart(self.op, target, left):
            self._hold(target, accumulated(rest, target, cells, value, reduction, left))
            return
        if not (statement.initialise and self._begins_whole(statement)):
            old = self._cells(values, target, mask is not None)
            given = Read("old", (), cells.dtype), Read("new", (), cells.dtype)
            known = {"old": old, "new": value}
            fields = _Fields(values.graph, values.order, values.fixed, values.memory, values.axes, given=known)
            value = fields.value(combined(reduction, 0, given[:1], given[1:])[0])
            self._hold(target, replaced(rest, target, cells, value))
            return
        self._hold(target, replaced(Domain(values, None), target, cells, value))

    def _along(self, statement: Statement, domain: Domain, axes: list[str]) -> Named:
        """Every contribution, combined along some axes."""
        values, mask = domain.values, domain.mask
        value = values.value(statement.values[0], guarded=mask is not None)
        if mask is not None:
            cells = self.memory[statement.targets[0].tensor]
            nothing = values.write.constant(identity(statement, cells.dtype), cells.dtype)
            value = values.write.select(mask, value, nothing)
        return reduced(values, value, axes, str(statement.reduction), statement.values[0].dtype)

    def _contracted(self, statement: Statement, values: Values, along: list[str]) -> Named | None:
        """A sum of products as one contraction, without a tensor over all axes."""
        parts = factors(statement)
        if not parts or not along or len(values.order) > MOST_AXES:
            return None
        found = [values.value(p) for p in parts]
        tensors, numbers = [f for f in found if f.axes], [f for f in found if not f.axes]
        seen = {a for f in tensors for a in f.axes}
        if len(tensors) < 2 or not seen.issuperset(along):
            return None
        value = contraction(values, tensors, tuple(a for a in values.order if a in seen and a not in along))
        for number in numbers:
            value = values.write("Mul", value, number, dtype=value.dtype)
        return value

    # -- before the first contribution

    def _begins_whole(self, statement: Statement) -> bool:
        """Whether a reduction gives every cell of a new tensor, so that nothing has to be there before."""
        if not isinstance(statement.reduction, str) or statement.initialises_all or own_reads(statement):
            return False
        if _rounds(statement, statement.values[0].dtype):
            return False
        free = [r for r in _free(statement) if r.kind == "free"]
        if any(r.bounding - self.fixed.keys() for r in free):
            return False
        target = statement.targets[0]
        kept = {s.name for s in target.subscripts if isinstance(s, Index)}
        if kept != {r.index for r in free}:
            return False
        scratch = ranges_domain(Graph(self.graph), free, self.fixed, self.memory, None)
        cells = self.memory[target.tensor]
        return all(scratch.values.covered(cells, d, s) for d, s in enumerate(target.subscripts))

    def _initialise(self, statement: Statement) -> None:
        for n, target in enumerate(statement.targets):
            cells = self.memory[target.tensor]
            start = identity_of(statement.reduction or "+", n, cells.dtype)
            values = Values(self.graph, (), self.fixed, self.memory)
            if statement.initialises_all:
                self._hold(target, one_number_tensor(values, cells, values.value(start)))
                continue
            domain = ranges_domain(self.graph, _ranges_of_cells(statement), self.fixed, self.memory, None)
            self._hold(target, replaced(domain, target, cells, domain.values.value(start)))


class _Fields(Values):
    """Values whose reads are given: the fields of the operands of a combination."""

    def __init__(self, *parts: object, given: Mapping[str, Named]) -> None:
        super().__init__(*parts)  # type: ignore[arg-type]
        self.given = given

    def _read(self, read: Read, guarded: bool) -> Named:
        return self.given[read.tensor]


def zero_tensor(body: Body, name: str) -> None:
    """A tensor that nobody has written holds 0."""
    cells = body.memory[name]
    values = Values(body.graph, (), body.fixed, body.memory)
    zero = values.write.constant(0, computing_type(cells.dtype))
    body.memory[name] = replace(cells, name=one_number_tensor(values, cells, zero))


def written(steps: Iterable[Step]) -> list[str]:
    """The tensors that some steps write, each once."""
    found: dict[str, None] = {}
    for step in steps:
        if isinstance(step, For):
            found |= dict.fromkeys(written(step.body))
        else:
            found |= dict.fromkeys(t.tensor for t in step.targets)
    return list(found)


def _rounds(statement: Statement, dtype: DType) -> bool:
    """Whether ONNX Runtime would compute a reduction of whole numbers along an axis in floats."""
    return statement.reduction == "*" and dtype.is_integral


def _free(statement: Statement) -> list[Range]:
    return [r for r in statement.ranges if r.kind != "sequential"]


def _ranges_of_cells(statement: Statement) -> list[Range]:
    """The free ranges, or all of them where a free range is bounded by a reduction index."""
    free = [r for r in statement.ranges if r.kind == "free"]
    bounds = {name for r in free for name in r.bounding}
    return _free(statement) if bounds & set(statement.indices("reduction")) else free
