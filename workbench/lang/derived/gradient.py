"""`wb.grad`: the operator that computes gradients, from an operator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from workbench.errors import OperatorError, unknown_name
from workbench.lang.algebra.normal_form import bound, polynomial
from workbench.lang.algebra.polynomial import ZERO
from workbench.lang.derived.building import Building
from workbench.lang.derived.differentiable import active, index_names_of, inputs_chosen
from workbench.lang.derived.forward.plain import plain_steps
from workbench.lang.derived.forward.replay import Replay, Version
from workbench.lang.derived.forward.stepping import renamed_reads, retargeted
from workbench.lang.derived.inlining import inlined
from workbench.lang.derived.result_shapes import with_shapes
from workbench.lang.derived.shifts import shifts
from workbench.lang.derived.sweep import Sweep
from workbench.lang.derived.systems import facts_of
from workbench.lang.derived.tape import Kept, kept
from workbench.lang.derived.text.source import Names, Source, chosen_names, source, walked
from workbench.lang.derived.text.writing import Derived
from workbench.lang.expr import Index
from workbench.lang.operator import Operator, Step, Tensor

Chosen = str | Iterable[str]


def grad(op: Any, wrt: Chosen | None = None, *, saved: Chosen = (), held: Chosen = ()) -> Any:
    """The operator that computes the gradients of another, by reverse accumulation (Linnainmaa 1976).

    `<name>_grad` takes what the operator takes, then the values in `saved`, then for every output of floats
    `d_<output>`, the derivative of some number by that output.  It returns for every input in `wrt` (by default every
    one of floats) `d_<input>`, the derivative of that number by the input.

    What it needs of the values in between it computes again; those in `saved` are given instead, as `saving` returns
    them (`tape` lists them with their bytes).  Tensors in `held` are taken for constants.  Equal places of a minimum
    or maximum get equal shares; `abs` and `relu` have slope 0 at 0, steps such as `floor` everywhere.

    Of a model: the model that computes its result and its gradients, see `Model.gradient`.

    >>> from workbench.lang import operator
    >>> print(grad(operator("def scale(float a, float(N) x) -> (y) { y(i) = a * x(i) }")))
    def scale_grad(float a, float(N) x, float(N) d_y) -> (d_a, d_x) {
        d_a +=! d_y(i) * x(i)
        d_x(i) = d_y(i) * a
    }
    """
    if hasattr(op, "gradient"):  # a model, of a later room
        if saved or held:
            raise OperatorError("grad of a model takes wrt alone; saved and held are of operators")
        return op.gradient(wrt)
    return Gradient(source(op, "grad"), wrt, saved, held).operator()


def tape(op: Operator, wrt: Chosen | None = None, *, held: Chosen = ()) -> tuple[Kept, ...]:
    """The values between inputs and outputs that `grad(op, wrt)` computes again, with their bytes.

    >>> from workbench.lang import operator
    >>> for value in tape(operator("def norm(float(N) x) -> (s) { s +=! x(i) * x(i)  s = sqrt(s) }")):
    ...     print(value)
    s_1: float, 4 bytes
    """
    return Gradient(source(op, "tape"), wrt, (), held).tape()


def saving(op: Operator, saved: Chosen) -> Operator:
    """The operator `<name>_saving`, which returns some values of its tape after its own outputs.

    >>> from workbench.lang import operator
    >>> print(saving(operator("def norm(float(N) x) -> (s) { s +=! x(i) * x(i)  s = sqrt(s) }"), "s_1"))
    def norm_saving(float(N) x) -> (s, s_1) {
        s_1 +=! x(i) * x(i)
        s = sqrt(s_1)
    }
    """
    return Gradient(source(op, "saving"), None, saved, ()).forward()


class Gradient:
    """One gradient on its way: the plain program, the sweep over it, what is computed again."""

    def __init__(self, taken: Source, wrt: Chosen | None, saved: Chosen, held: Chosen) -> None:
        self.source, self.op = taken, taken.op
        op = self.op
        self.initial = [name for name in op.outputs if op.tensors[name].role == "inout"]
        self.chosen = inputs_chosen(taken, wrt)
        names = Names(taken.taken())
        self.seeds = {name: names(f"d_{name}") for name in op.outputs if op.tensors[name].dtype.is_float}
        before = {name: f"d_{name}_before" for name in self.initial}
        self.results = {name: names(before.get(name, f"d_{name}")) for name in self.chosen}
        self.building = Building(dict(op.tensors), names, facts_of(op), index_names=index_names_of(op))
        self.steps = plain_steps(op.body, self.building)
        self.building.extrema = frozenset(
            s.targets[0].tensor for s, _ in walked(self.steps) if s.reduction in ("min", "max")
        )
        self.annotated = frozenset(p.name.name for p in taken.define.outputs if p.type is not None)
        given = {(name, -1): name for name in self.initial}
        self.replay = Replay(self.building, self.steps, given, annotated=self.annotated)
        self.saved = self._saved(saved)
        self.held = set(chosen_names(held, op.tensors, "held", ()))

    # --- what is asked for

    def _saved(self, saved: Chosen) -> dict[str, Version]:
        known = self.replay.versions()
        names = (saved,) if isinstance(saved, str) else tuple(saved)
        for name in names:
            if name not in known:
                raise OperatorError(f"saved: {unknown_name('value', name, known)}")
        return {name: known[name] for name in names}

    # --- the programs

    def operator(self) -> Operator:
        """The gradient."""
        self._take_saved()
        self._sweep()
        forward, storage = self.replay.forward()
        backward = inlined(self.building.steps, set(self.results.values()))
        body = (*self._moved, *forward, *(retargeted(step, storage) for step in backward))
        parameters = (*self.op.parameters, *self.initial, *self.saved, *self.seeds.values())
        outputs = tuple(self.results[each] for each in self.chosen)
        doc = f"Gradient of {self.op.name} by {', '.join(self.chosen)}."
        again = "\n".join(f"- {each}" for each in self._tape(storage))
        doc += f"\n\nComputed again:\n{again}" if again else ""
        return replace(self._with_shapes(parameters, outputs, body), doc=doc)

    def _with_shapes(self, parameters: tuple[str, ...], outputs: tuple[str, ...], body: tuple[Step, ...]) -> Operator:
        def make(steps: tuple[Step, ...], annotated: tuple[str, ...]) -> Operator:
            return self._derived(f"{self.op.name}_grad", parameters, outputs, steps, annotated)

        return with_shapes(make, tuple(self.building.tensors[name] for name in outputs), body)

    def tape(self) -> tuple[Kept, ...]:
        """What the gradient computes again."""
        self._sweep()
        return self._tape(self.replay.forward()[1])

    def forward(self) -> Operator:
        """The operator with saved values among its outputs."""
        op, replay = self.op, self.replay
        for label, (name, _) in self.saved.items():
            if name in self.initial:
                raise OperatorError(f"saving: {label!r} is a value of {name!r}, which the caller gives as out=")
        replay.given.clear()
        replay.declared = self.annotated | set(self.initial)
        replay.wanted |= {(name, replay.writers[name][-1]) for name in op.outputs}
        replay.wanted |= set(self.saved.values())
        body, storage = replay.forward()
        names = {storage[tag]: label for label, tag in ((x, f"{v[0]}@{v[1]}") for x, v in self.saved.items())}
        extra = tuple(label for label in names.values() if label not in op.outputs)
        outputs = (*op.outputs, *extra)
        return self._derived(f"{op.name}_saving", op.parameters, outputs, tuple(body), tuple(self.annotated))

    def _sweep(self) -> None:
        building, op = self.building, self.op
        held = self.held | shifts(self.steps, building, op.outputs)
        reached = active(self.steps, self.chosen, op.outputs, held)
        sweep = Sweep(building, self.replay, reached)
        for name, seed in self.seeds.items():
            of = op.tensors[name]
            building.tensors[seed] = replace(of, name=seed, lower=(bound(ZERO),) * of.rank, role="input")
            sweep.adjoints.names.add(seed)
            if name in reached:
                cell = zip(building.indices(name), of.lower, strict=True)
                at = [bound(polynomial(Index(i)) - polynomial(low)) for i, low in cell]
                sweep.adjoints.seed(name, building.read(seed, at))
        sweep.run(self.steps)
        for name in self.chosen:
            self._finish(sweep, name)
        self.replay.only_for(building.steps)

    def _finish(self, sweep: Sweep, name: str) -> None:
        """Write the adjoint of an input, or call the tensor that is it already by the name of the result."""
        building, result = self.building, self.results[name]
        building.tensors[result] = replace(building.like_tensor(name), name=result)
        building.index_names[result] = building.indices(name)
        found = sweep.adjoints.pending.pop(name, [])
        written = sweep.adjoints.alias(found)
        of = building.tensors[written.tensor] if written else None
        cells = (building.tensors[name].lower, building.tensors[name].extent)
        same = of is not None and of.role == "temporary" and (of.lower, of.extent) == cells
        if not written or not same or any(written.shift) or written.tensor in self.results.values():
            sweep.adjoints.write(result, found)
            return
        names = {written.tensor: result}
        building.steps = [retargeted(step, names) for step in building.steps]
        for each in (each for pending in sweep.adjoints.pending.values() for each in pending):
            each.value = renamed_reads(each.value, names)

    def _take_saved(self) -> None:
        """Saved values become parameters; one whose cells do not begin at 0 is moved first."""
        building = self.building
        self._moved: list[Step] = []
        for label, version in self.saved.items():
            of = building.tensors[version[0]]
            building.tensors[label] = Tensor(label, of.dtype, (bound(ZERO),) * of.rank, of.extent, "input")
            building.index_names.setdefault(label, building.indices(version[0]))
            self.replay.given[version] = label
            self.replay.keeping[label] = version[0]
            if any(polynomial(low) for low in of.lower):
                moved = building.like(label, version[0])
                cell = zip(building.indices(version[0]), of.lower, strict=True)
                at = [bound(polynomial(Index(i)) - polynomial(low)) for i, low in cell]
                steps, building.steps = building.steps, []
                building.fill(moved, building.read(label, at))
                self._moved, building.steps = [*self._moved, *building.steps], steps
                self.replay.given[version] = moved

    def _tape(self, storage: dict[str, str]) -> tuple[Kept, ...]:
        named = {f"{v[0]}@{v[1]}": label for label, v in self.replay.versions().items()}
        wanted = {f"{name}@{at}" for name, at in self.replay.wanted if (name, at) not in self.replay.given}
        labels = [named[tag] for tag in storage if tag in wanted]
        values = [replace(self.building.tensors[self.replay.versions()[x][0]], name=x) for x in labels]
        values += [self.building.tensors[name] for name in sorted(self.replay.keeping) if name.count("_kept")]
        return kept(values, self.source)

    def _derived(
        self, wanted: str, parameters: tuple[str, ...], outputs: tuple[str, ...], body: tuple[Step, ...],
        annotated: tuple[str, ...],
    ) -> Operator:  # fmt: skip
        op, narrow = self.op, set(self.source.narrow)
        narrow |= {seed for name, seed in self.seeds.items() if name in narrow}
        narrow |= {name for name, of in self.replay.keeping.items() if of in narrow}
        narrow |= {name for name in annotated if name in self.results.values() and self.source.variable}
        tensors = {name: each for name, each in self.building.tensors.items() if name not in op.parameters}
        derived = Derived(
            self.source, wanted, parameters, outputs, tensors, body, frozenset(narrow), op.promises,
            annotated=frozenset(annotated),
        )  # fmt: skip
        return derived.operator()
