"""`wb.grad`: the operator that computes gradients, from an operator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from workbench.lang.derived.building import Building
from workbench.lang.derived.plain import plain_steps
from workbench.lang.derived.pullback import derivatives
from workbench.lang.derived.replay import Replay, retargeted
from workbench.lang.derived.source import Names, Source, chosen_names, source, walked
from workbench.lang.derived.sweep import Sweep
from workbench.lang.derived.systems import facts_of
from workbench.lang.derived.writing import Derived
from workbench.lang.expr import Index, index_names, reads
from workbench.lang.normal_form import bound, polynomial
from workbench.lang.operator import Operator, Step, Tensor


def grad(op: Operator, wrt: str | Iterable[str] | None = None) -> Operator:
    """The operator that computes the gradients of another.

    `<name>_grad` takes what the operator takes, then for every output of floats `d_<output>`, the derivative of
    some number by that output, and returns for every input in `wrt` (by default every one of floats) `d_<input>`.

    >>> from workbench.lang import operator
    >>> print(grad(operator("def scale(float a, float(N) x) -> (y) { y(i) = a * x(i) }")))
    def scale_grad(float a, float(N) x, float(N) d_y) -> (d_a, d_x) {
        d_a +=! d_y(i) * x(i)
        d_x(i) = d_y(i) * a
    }
    """
    return _Gradient(source(op, "grad"), wrt).operator()


@dataclass
class _Gradient:
    source: Source
    wrt: str | Iterable[str] | None

    def __post_init__(self) -> None:
        op = self.source.op
        self.op = op
        initial = [name for name in op.outputs if op.tensors[name].role == "inout"]
        self.inputs = [*(name for name in op.parameters if name in op.tensors), *initial]
        self.initial = initial
        known = [name for name in self.inputs if op.tensors[name].dtype.is_float]
        self.chosen = self._chosen(known)
        names = Names(self.source.taken())
        self.seeds = {name: names(f"d_{name}") for name in op.outputs if op.tensors[name].dtype.is_float}
        self.results = {name: names(f"d_{name}_before" if name in initial else f"d_{name}") for name in self.chosen}
        self.building = Building(dict(op.tensors), names, facts_of(op))
        self.building.index_names.update(_index_names(op))

    def _chosen(self, known: list[str]) -> tuple[str, ...]:
        op, unit = self.source.op, self.source
        chosen = chosen_names(self.wrt, [*op.parameters, *self.initial], "grad", known)
        for name in chosen:
            if name not in known:
                kind = op.tensors[name].dtype.name if name in op.tensors else "an integer that shapes the program"
                message = f"no gradient by {name!r}, which is {kind}"
                raise unit.error(message, unit.of_tensor(name), f"leave it out of wrt; by these there is one: {', '.join(known)}")
        return chosen

    def operator(self) -> Operator:
        building, op = self.building, self.op
        steps = plain_steps(op.body, building)
        replay = Replay(building, steps, {(name, -1): name for name in self.initial})
        sweep = Sweep(building, replay, active(steps, self.chosen, op.outputs))
        for name, seed in self.seeds.items():
            of = op.tensors[name]
            building.tensors[seed] = Tensor(seed, of.dtype, tuple(bound(polynomial(x) * 0) for x in of.lower), of.extent, "input")
            sweep.adjoints.add(seed)
            if name in sweep.active:
                cell = zip(building.indices(name), of.lower, strict=True)
                sweep.seed(name, building.read(seed, [bound(polynomial(Index(i)) - polynomial(low)) for i, low in cell]))
        sweep.run(steps)
        for name in self.chosen:
            self._finish(sweep, name)
        forward, storage = replay.forward()
        body = (*forward, *(retargeted(step, storage) for step in building.steps))
        return self._derived(body, replay)

    def _finish(self, sweep: Sweep, name: str) -> None:
        result, building = self.results[name], self.building
        building.tensors[result] = replace(building.like_tensor(name), name=result)
        building.index_names[result] = building.indices(name)
        sweep.write(result, sweep.pending.pop(name, []))

    def _derived(self, body: tuple[Step, ...], replay: Replay) -> Operator:
        op, narrow = self.op, set(self.source.narrow)
        narrow |= {seed for name, seed in self.seeds.items() if name in narrow}
        narrow |= {name for name, of in replay.keeping.items() if of in narrow}
        parameters = (*op.parameters, *self.initial, *self.seeds.values())
        tensors = {name: each for name, each in self.building.tensors.items() if name not in op.parameters}
        name = Names({self.op.name})(f"{op.name}_grad")
        outputs = tuple(self.results[each] for each in self.chosen)
        return Derived(self.source, name, parameters, outputs, tensors, body, frozenset(narrow), op.promises).operator()


def active(steps: tuple[Step, ...], chosen: Iterable[str], outputs: Iterable[str]) -> set[str]:
    """Tensors that vary with the chosen inputs and on which some output depends."""
    statements = [statement for statement, _ in walked(steps)]
    varying = set(chosen)
    while True:
        new = {
            target.tensor
            for statement in statements
            for target, value in zip(statement.targets, statement.values, strict=True)
            if value.dtype.is_float and derivatives(value, varying)
        } - varying
        if not new:
            break
        varying |= new
    useful = set(outputs)
    while True:
        new = {
            each.tensor
            for statement in statements
            if useful & {target.tensor for target in statement.targets}
            for each in reads(*statement.values)
        } - useful
        if not new:
            return varying & useful
        useful |= new


def _index_names(op: Operator) -> dict[str, tuple[str, ...]]:
    """How the indices of a tensor are called: as where it is written or read first with one index in every place."""
    found: dict[str, tuple[str, ...]] = {}
    for statement, _ in walked(op.body):
        cells = [(target.tensor, target.subscripts) for target in statement.targets]
        cells += [(each.tensor, each.subscripts) for each in reads(*statement.values)]
        for name, subscripts in cells:
            names = [next(iter(own), "") for own in map(index_names, subscripts) if len(own) == 1]
            if len(set(names)) == len(subscripts) and names:
                found.setdefault(name, tuple(names))
    return found
