"""Gradients against central differences: what both need of an operator at some arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import workbench as wb
from workbench.lang.algebra.normal_form import polynomial

Array = np.ndarray[Any, Any]
STEPS = (1e-5, 1e-6, 1e-7)


def several(result: Any) -> tuple[Any, ...]:
    """Results as a tuple, also where there is one."""
    return result if isinstance(result, tuple) else (result,)


@dataclass
class Point:
    """An operator of float64 at some arguments; `given` holds what in/out and partly written outputs hold before."""

    op: wb.Operator
    arguments: list[Any]
    given: dict[str, Array] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        op = self.op
        self.floats = [n for n in op.outputs if op.tensors[n].dtype.is_float]
        self.initial = [n for n in op.outputs if op.tensors[n].role == "inout"]
        every = [*op.parameters, *self.initial]
        floats = [n for n in every if n in op.tensors and op.tensors[n].dtype.is_float]
        self.inputs = [n for n in floats if all(polynomial(e).constant != 0 for e in op.tensors[n].extent)]

    def value(self, name: str) -> Array:
        """What an input holds."""
        found = self.arguments[self.op.parameters.index(name)] if name in self.op.parameters else self.given[name]
        return np.asarray(found)

    def outputs(self, changed: Mapping[str, Array] | None = None) -> dict[str, Array]:
        """The results, with other values of some inputs."""
        changed = changed or {}
        arguments = [changed.get(n, a) for n, a in zip(self.op.parameters, self.arguments, strict=True)]
        given = {**self.given, **{n: a for n, a in changed.items() if n not in self.op.parameters}}
        out = tuple(given.get(n) for n in self.op.outputs) if given else None
        results = several(wb.lang.evaluate(self.op, *arguments, out=out, **self.sizes))
        return dict(zip(self.op.outputs, results, strict=True))

    def gradient(self, seeds: Mapping[str, Array], of: wb.Operator | None = None) -> dict[str, Array]:
        """The gradients by all inputs of floats, with the oracle."""
        return dict(zip(self.inputs, self._evaluated(of or wb.grad(self.op), seeds), strict=True))

    def is_infinite_inside(self, seeds: Mapping[str, Array]) -> bool:
        """Whether a value that the gradient computes again is infinite: 0 times it is no number."""
        of = wb.grad(self.op)
        kept = tuple(each.name for each in wb.tape(self.op) if each.name in of.tensors)
        values = self._evaluated(replace(of, outputs=kept), seeds) if kept else ()
        return any(not np.all(np.isfinite(value)) for value in values)

    def _evaluated(self, of: wb.Operator, seeds: Mapping[str, Array]) -> tuple[Any, ...]:
        arguments = [*self.arguments, *(self.given[n] for n in self.initial), *seeds.values()]
        known = {n: v for n, v in self.sizes.items() if n in (*of.size_names, *of.scalars)}
        return several(wb.lang.evaluate(of, *arguments, **known))

    def slope(self, seeds: Mapping[str, Array], name: str, direction: Array, step: float) -> float:
        """Central difference of the seeded sum of the outputs along a direction of one input."""
        ends = [self.outputs({name: self.value(name) + sign * step * direction}) for sign in (1, -1)]
        with np.errstate(invalid="ignore"):  # what is infinite at both ends
            return sum(float(np.sum((ends[0][n] - ends[1][n]) * seeds[n])) for n in self.floats) / (2 * step)


@dataclass
class Comparison:
    """Gradients beside differences: what is wrong, and how many inputs agreed.

    Of inputs at no smooth place differences contradict each other; with something infinite inside, which a minimum or
    maximum takes away again, a gradient may be no number.
    """

    wrong: list[str] = field(default_factory=list)
    agreed: int = 0
    unsmooth: int = 0
    infinite: int = 0


def compared(point: Point, seed: int = 0, tolerance: float = 1e-6, of: wb.Operator | None = None) -> Comparison:
    """The gradient by every input along a direction; where differences contradict each other nothing is said."""
    generator = np.random.default_rng(seed)
    outputs = point.outputs()
    seeds = {n: generator.standard_normal(outputs[n].shape) for n in point.floats}
    found = Comparison()
    for name, gradient in point.gradient(seeds, of).items():
        value = point.value(name)
        if gradient.shape != value.shape:
            found.wrong.append(f"d_{name} has shape {gradient.shape}, {name} {value.shape}")
            continue
        direction = generator.standard_normal(value.shape)
        exact = float(np.sum(gradient * direction))
        slopes = [point.slope(seeds, name, direction, step) for step in STEPS]
        scale = 1 + max(map(abs, slopes)) + float(np.sum(np.abs(gradient * direction)))
        if any(not np.isfinite(slope) for slope in slopes) or max(slopes) - min(slopes) > 1e-3 * scale:
            found.unsmooth += 1
        elif min(abs(exact - slope) for slope in slopes) <= tolerance * scale:
            found.agreed += 1
        elif np.isnan(exact) and point.is_infinite_inside(seeds):
            found.infinite += 1
        else:
            found.wrong.append(f"d_{name}: {exact!r} against {slopes}")
    return found


def complaints(point: Point, seed: int = 0, tolerance: float = 1e-6, of: wb.Operator | None = None) -> list[str]:
    """Inputs whose gradient is not what differences say."""
    return compared(point, seed, tolerance, of).wrong
