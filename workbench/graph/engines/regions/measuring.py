"""What regions cost: the time of what an engine compiles, on arrays of their types, measured once and kept on disk.

The callable takes and gives NumPy arrays, so its time includes whatever the engine does to copy them or change their
layout.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np

from workbench.errors import ModelError
from workbench.graph.engines.engine_records import Engine
from workbench.graph.engines.kept_engines import compiled_or_kept, machine_key
from workbench.graph.engines.region_calls import checked_arrays, taken_in, worded
from workbench.graph.engines.regions.blocks import Block, Mask
from workbench.graph.engines.regions.outlining import outline, untold_dimensions
from workbench.graph.engines.same_definition import definition_key
from workbench.graph.engines.sites import ArrayType, array_type
from workbench.graph.engines.subgraphs import Subgraph, subgraph
from workbench.graph.engines.trials import within_seconds
from workbench.graph.evaluation.evaluating import evaluate_on, evaluation_machine
from workbench.graph.evaluation.operators import in_order, inputs_of
from workbench.graph.models import Model
from workbench.graph.terms.dimensions import dimension, replaced, shown
from workbench.graph.terms.nodes import Call, Function, Global, Primitive, Term, Variable
from workbench.graph.terms.scalars import infix
from workbench.graph.terms.types import TensorType
from workbench.lang.dtypes import FLOAT32
from workbench.records import record
from workbench.runtime.compilers.storage import subdirectory, write_file
from workbench.settings import current

SECONDS, MOST_SECONDS = 0.03, 1.0
FEWEST_RUNS, MOST_RUNS = 5, 50


@record
class Cost:
    """What a region costs on an engine: seconds, or why it cannot be had there."""

    seconds: float
    reason: str = ""

    @property
    def is_possible(self) -> bool:
        """Whether the engine computes it."""
        return not self.reason


@dataclass(eq=False)
class Measuring:
    """Measures regions of a model whose named dimensions have these `sizes`; what it has seen before it remembers."""

    model: Model
    sizes: Mapping[str, int]
    host: Callable[..., Any]
    host_name: str
    timeout_seconds: float = 60.0
    known: dict[str, Cost] = field(default_factory=dict)
    measured: int = 0
    _regions: dict[tuple[Block, Mask], Subgraph] = field(default_factory=dict)

    def region(self, block: Block, mask: Mask) -> Subgraph:
        """A region for the given sizes; ModelError names a dimension that has none."""
        key = (block, mask)
        if key not in self._regions:
            function = outline(self.model, block, mask).function
            types = [self._type(each) for each in function.parameters]
            self._regions[key] = subgraph("region", function, types)
        return self._regions[key]

    def _type(self, variable: Variable) -> ArrayType:
        of = variable.type
        assert isinstance(of, TensorType)
        dims = tuple(replaced(each, {n: dimension(v) for n, v in self.sizes.items()}) for each in of.dims)
        found = array_type(TensorType(of.element, dims))
        assert found is not None
        if not found.is_concrete:
            named = ", ".join(shown(each) for each in dims if each.constant is None)
            raise ModelError(
                f"costs are measured for sizes, and no number is given for {named}; give partition(..., sizes={{...}})"
            )
        return found

    def on(self, engine: Engine, block: Block, mask: Mask) -> Cost:
        """What a region costs on an engine."""
        missing = untold_dimensions(outline(self.model, block, mask))
        if missing:
            return Cost(float("inf"), f"no argument tells the size {sorted(missing)[0]!r}")
        region = self.region(block, mask)
        key = digest(engine.name, engine.version, shape_key(region))
        own = self._remembered(key, lambda: self._timed(engine, region))
        return Cost(own.seconds + dispatch_seconds(to="region"), own.reason)

    def by_host(self, block: Block, mask: Mask) -> Cost:
        """What a call costs where no engine takes it."""
        region = self.region(block, mask)
        key = digest("one call on the host", self.host_name, shape_key(region))
        own = self._remembered(key, lambda: Cost(best_seconds(host_call(region, self.host), region)))
        return Cost(own.seconds + dispatch_seconds(to="operator"))

    def _remembered(self, key: str, measure: Callable[[], Cost]) -> Cost:
        if key not in self.known:
            file = subdirectory("engine-costs") / f"{key}.json"
            found = _read(file)
            if found is None:
                found, self.measured = measure(), self.measured + 1
                if found.is_possible:
                    write_file(file, json.dumps({"seconds": found.seconds}).encode())
            self.known[key] = found
        return self.known[key]

    def _timed(self, engine: Engine, region: Subgraph) -> Cost:
        """Compiled and called once with a limit on time, then timed in the thread that will call it."""
        given = taken_in(example_arrays(region))[0]
        try:
            compiled = within_seconds(self.timeout_seconds, lambda: compiled_or_kept(engine, region, keep=False))
            within_seconds(self.timeout_seconds, lambda: checked_arrays(region, compiled(*given)))
            return Cost(best_seconds(lambda given: checked_arrays(region, compiled(*taken_in(given)[0])), region))
        except Exception as error:
            return Cost(float("inf"), worded(error))


def host_call(region: Subgraph, host: Callable[..., Any]) -> Callable[[tuple[Any, ...]], Any]:
    """The call of a region of one, as the interpreter makes it when it has looked everything up."""
    (step,) = region.steps
    names, sizes = inputs_of(step.operator), step.sizes

    def call(arrays: tuple[Any, ...]) -> Any:
        values = {**region.constants, **dict(zip(region.inputs, arrays, strict=True))}
        given = tuple(values[each] for each in step.arguments)
        out = in_order(step.operator, given[len(names) :]) if len(given) > len(names) else None
        return host(step.operator, **dict(zip(names, given, strict=False)), **sizes, out=out)

    return call


@cache
def dispatch_seconds(*, to: Literal["operator", "region"]) -> float:
    """What the interpreter takes for a call that computes nothing, by the host or of a region's function.

    Measured on ten calls, less one.
    """
    one, x = np.float32(1.0), Variable("x", TensorType(FLOAT32))
    identity = Function((y := Variable("y", TensorType(FLOAT32)),), y)
    times = []
    for count in (1, 10):
        term: Term = x
        for _ in range(count):
            term = Call(Primitive(infix("+")), (term, x)) if to == "operator" else Call(Global("region"), (term,))
        model = Model({"main": Function((x,), term), "region": identity})
        machine = evaluation_machine(model, lambda op, **_: one, {"region": lambda value: value})
        times.append(_shortest(lambda on=machine, model=model: evaluate_on(on, model, (one,), {})))
    return max(0.0, times[1] - times[0]) / 9


def _shortest(call: Callable[[], Any], runs: int = 50) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def best_seconds(call: Callable[[tuple[Any, ...]], Any], region: Subgraph) -> float:
    """The shortest of some calls on arrays of the region's types, after one that warms up."""
    given = example_arrays(region)
    call(given)
    times: list[float] = []
    while len(times) < FEWEST_RUNS or (sum(times) < SECONDS and len(times) < MOST_RUNS):
        start = time.perf_counter()
        call(given)
        times.append(time.perf_counter() - start)
        if sum(times) > MOST_SECONDS:
            break
    return min(times)


def example_arrays(region: Subgraph) -> tuple[Any, ...]:
    """Arrays of the types of a region's inputs."""
    return tuple(_example(region.types[each]) for each in region.inputs)


def _example(of: ArrayType) -> np.ndarray[Any, Any]:
    """An array of a type: small numbers; whole numbers are 0, because they may be subscripts."""
    shape = tuple(int(each) for each in of.shape)
    if not of.dtype.is_float:
        return np.zeros(shape, of.dtype.numpy)
    return np.random.default_rng(0).uniform(0.1, 1.0, shape).astype(of.dtype.numpy)


def shape_key(region: Subgraph) -> str:
    """A text of all that time depends on: definitions, types, and how values flow; not what constants hold."""
    steps = [(definition_key(s.operator), s.arguments, s.results, sorted(s.sizes.items())) for s in region.steps]
    types = [str(region.types[each]) for each in sorted(region.types)]
    return repr((steps, types, region.inputs, region.results))


def digest(*parts: str) -> str:
    """A digest of what time depends on, on this machine and with so many threads."""
    return sha256(repr((*parts, machine_key(), current().threads)).encode()).hexdigest()[:32]


def _read(file: Path) -> Cost | None:
    try:
        return Cost(float(json.loads(file.read_text(encoding="utf-8"))["seconds"]))
    except (OSError, ValueError, KeyError):
        return None
