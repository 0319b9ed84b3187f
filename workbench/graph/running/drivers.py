"""The driver: the interpreter's machine, whose straight segments are compiled programs.

Control flow, closures, data and cells are the interpreter's own; between them runs compiled code, a program for each
segment and the sizes it is met with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.graph.evaluation.machine import Activation, Closure, Machine
from workbench.graph.forms.scopes import Scopes, scopes
from workbench.graph.running.packed_constants import PackedConstants
from workbench.graph.running.profiling.watches import Watch
from workbench.graph.running.programs import Program
from workbench.graph.running.recording.recordings import Array, Nested, flat, mapped
from workbench.graph.running.recording.segments import Segment, segmented, straight_functions
from workbench.graph.running.recording.tracing import Tracer
from workbench.graph.terms.nodes import Call, Function, Term
from workbench.graph.terms.types import FunctionType, TensorType, Type, variables_of
from workbench.lang.operator import Operator
from workbench.runtime.host.locks import Lock

Key = tuple[Any, ...]
MOST_SOLUTIONS = 1024
"""Of the dimensions of one function."""
MOST_SIZES = 16
"""Of one segment: what is met with more is computed operator by operator, with kernels for all sizes."""


@dataclass(eq=False)
class Driver(Machine):
    """Evaluates a model; `run_operator` computes what no program does.

    `foreign` functions of Python take the place of functions of the model by name.
    """

    foreign: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    threads: int | None = None
    programs: dict[Key, Program] = field(default_factory=dict)
    packed: PackedConstants = field(default_factory=dict)
    watch: Watch = field(default_factory=Watch)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.straight = straight_functions(self.functions, self.typing, self.foreign)
        self.tracer = Tracer(self.functions, self.datatypes, self.typing, foreign=self.foreign)
        self.lock = Lock()
        self.met: dict[Segment, int] = {}
        self._places: dict[Function, tuple[int, ...]] = {}
        self._solutions: dict[Function, dict[Key, dict[str, int]]] = {}

    def named(self, name: str) -> Any:
        """A function of the model as a value, or the function of Python in its place."""
        if name in self.foreign:
            return self.foreign[name]
        return self.closure(name)

    def closure(self, name: str) -> Closure:
        """A function of the model, its blocks cut into segments."""
        if name not in self.codes:
            self.codes[name] = segmented(scopes(self.functions[name]), self.typing, self.straight)
        return Closure(self.functions[name], None, self.codes[name], self)

    def program(self, code: Scopes, segment: Segment, values: list[Nested], sizes: Mapping[str, int]) -> Program | None:
        """The program of a segment for inputs like these, built when they are first met; None if too many were."""
        leaves = flat(tuple(values))
        key = (segment, tuple(sizes.items()), *((each.shape, each.dtype) for each in leaves))
        found = self.programs.get(key)
        if found is None:
            with self.lock:
                found = self.programs.get(key)
                if found is None and self.met.get(segment, 0) < MOST_SIZES:
                    found = self.programs[key] = self._built(code, segment, values, sizes)
                    self.met[segment] = self.met.get(segment, 0) + 1
        return found

    def _built(self, code: Scopes, segment: Segment, values: list[Nested], sizes: Mapping[str, int]) -> Program:
        given = dict(zip(segment.inputs, values, strict=True))
        return Program(self.tracer.trace(code, segment, given, sizes), self.threads, self.packed, self.watch)

    def function_of(self, segment: Segment) -> str:
        """The name of the function that a segment is a piece of."""
        blocks = ((name, block) for name, code in self.codes.items() for block in code.blocks.values())
        return next((name for name, block in blocks if any(node is segment for node in block)), "a function")

    def sizes_of(self, closure: Closure, arguments: tuple[Any, ...], sizes: dict[str, int]) -> dict[str, int]:
        """The dimensions of a call; CallError if its arguments disagree about them."""
        return self._sizes(closure.function, arguments, sizes) if closure.function in self.sized else sizes

    def sizes_of_call(self, function: Function, arguments: tuple[Any, ...], sizes: dict[str, int]) -> dict[str, int]:
        """The same for a function whose dimensions count, where `sizes` are those of the functions around it.

        Where tensors tell all of them, what data hold is not looked through: whoever called has, or computed it.
        """
        places = self._places.get(function)
        if places is None:
            places = self._places[function] = _tensor_places(self.typing.types[function])
        known = self._solutions.setdefault(function, {})
        key = tuple(sizes.items()), tuple([arguments[at].shape for at in places])
        if key not in known:
            found = self._sizes(function, arguments, sizes)
            if len(places) < len(arguments) and not _named(self.typing.types[function], places) >= found.keys() - sizes:
                return found
            if len(known) >= MOST_SOLUTIONS:
                known.clear()
            known[key] = found
        return known[key]

    def operator_call(self, node: Call, op: Operator, arguments: tuple[Any, ...], sizes: Mapping[str, int]) -> Any:
        """The value of a call of an operator that was not known before it ran."""
        return self._operator(node, op, arguments, Activation({}, None, dict(sizes)))

    # --- steps

    def _step(self, stack: Any, frame: Any, node: Term) -> None:
        if isinstance(node, Segment):
            self._segment(frame.activation, frame.code, node)
        else:
            super()._step(stack, frame, node)

    def _segment(self, activation: Activation, code: Scopes, segment: Segment) -> None:
        values = [mapped(self.value(activation, term, code), dense) for term in segment.inputs]
        sizes = {name: activation.sizes[name] for name in segment.sizes if name in activation.sizes}
        program = self.program(code, segment, values, sizes)
        if program is None:
            return self.compute(code, segment.nodes, activation)
        found = iter(program.run(list(flat(tuple(values)))))
        for term, nested in zip(segment.outputs, program.recording.outputs, strict=True):
            activation.values[term] = mapped(nested, lambda _: next(found))


def _tensor_places(of: Type) -> tuple[int, ...]:
    """Which parameters of a function are tensors."""
    assert isinstance(of, FunctionType)
    return tuple(at for at, each in enumerate(of.parameters) if isinstance(each, TensorType))


def _named(of: Type, places: tuple[int, ...]) -> set[str]:
    """The dimensions that are in the types of some parameters."""
    assert isinstance(of, FunctionType)
    return {name for at in places for name, kind in variables_of(of.parameters[at]).items() if kind == "dimension"}


def dense(array: Any) -> Array:
    """The array, or a copy that a kernel can read."""
    flags = array.flags
    if flags.c_contiguous and flags.aligned and array.dtype.isnative:
        return array
    return np.array(array, array.dtype.newbyteorder("="), order="C")
