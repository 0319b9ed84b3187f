"""`build_model`: a model becomes a callable."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import BuildError, CallError, ModelError, shown, unknown_name
from workbench.graph.evaluation.arguments import checked_argument
from workbench.graph.running.drivers import Driver, dense
from workbench.graph.running.profiling.call_profiles import profiled_calls
from workbench.graph.running.profiling.profiles import Profile, profiled
from workbench.graph.running.programs import Program
from workbench.graph.running.recording.recordings import Array, Nested, flat, in_tuples, mapped
from workbench.graph.running.recording.segments import whole_segment
from workbench.graph.running.recursion.unrolling import Unrolling
from workbench.graph.running.recursion.walks import Walks
from workbench.graph.running.specimens import specimens
from workbench.graph.running.symbolic_calls import symbolic_call
from workbench.graph.running.torch_tensors import address_of, arrays_from_torch, to_torch
from workbench.graph.terms.types import FunctionType
from workbench.graph.text.printing_types import print_type
from workbench.settings import THREADS_LIMIT, settings
from workbench.target import Target

if TYPE_CHECKING:
    from workbench.graph.models import Model

REMEMBERED = 256
"""Combinations of shapes that the short way is kept for."""


class BuiltModel:
    """A model that runs compiled code: `built(*arrays)` gives what `model.evaluate(*arrays)` does.

    Takes what the interpreter takes, and tensors of PyTorch; where all tensors that are given are PyTorch's, so are the
    results.  Results are new arrays.  A model that is straight is one program in C for each combination of sizes, made
    when that is first met (when it is built, if all its sizes are numbers), up to sixteen of them; then its operators
    run one by one, by kernels for all sizes.  Any other model is a set of functions of Python
    over programs for its straight pieces; equal pieces that do not wait for one another run as one; a whole run whose
    arguments have a form that comes again, a list as long or a tree like one before, is one program where that is
    faster.  CallError for arguments that do not fit, KernelError for an index out of range.
    """

    def __init__(self, model: Model, calls: Mapping[str, Callable[..., Any]], threads: int | None) -> None:
        self.model, self.threads = model, threads
        functions = dict(model.functions)
        self._driver = Driver(functions, model.datatypes, model.typing, symbolic_call, foreign=calls, threads=threads)
        self._entry = self._driver.closure(model.entry)
        self._driver.sized.add(self._entry.function)
        self._segment = whole_segment(self._entry.code, self._entry.function)
        self._walks = None if self._segment else _walks(self._driver, model.entry)
        self._known: dict[tuple[Any, ...], Callable[[tuple[Any, ...]], Any]] = {}
        of = model.type_of(model.entry)
        assert isinstance(of, FunctionType)
        self._parameters = of.parameters
        self._unrolling = Unrolling(self._driver, model.entry, of.parameters, self._controlled)

    @property
    def is_straight(self) -> bool:
        """Whether the whole model is one program."""
        return self._segment is not None

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs that were made by now."""
        return tuple(dict.fromkeys(self._driver.programs.values()))

    def prepare(self, **sizes: int) -> BuiltModel:
        """Make the program for these sizes of its dimensions now; nothing for a model that is not straight."""
        if self._segment is not None:
            with self._settings():
                self._program(specimens(self.model, sizes), sizes)
        return self

    def __call__(self, *arrays: Any, **sizes: int) -> Any:
        if sizes:
            return self._carefully(arrays, sizes)
        try:
            found = self._known.get(tuple([(a.shape, a.dtype) for a in arrays]))
        except (AttributeError, TypeError):
            found = None
        return self._carefully(arrays, sizes) if found is None else found(arrays)

    # --- any call

    def _carefully(self, arrays: tuple[Any, ...], sizes: dict[str, int]) -> Any:
        plain, is_torch = arrays_from_torch(arrays)
        with self._settings():
            if self._segment is None:
                found = self._unrolling.call(plain, sizes, lambda: self._arguments(plain, sizes))
            elif (program := self._program(arguments := self._arguments(plain, sizes), sizes)) is None:
                found = self._controlled(arguments, dict(sizes))
            else:
                given = list(flat(tuple(mapped(arguments[at], dense) for at in self._picks())))
                found = _nested(program, program.run(given))
                self._remember(arrays, sizes, program, is_torch=is_torch)
        return to_torch(found) if is_torch else found

    def _controlled(self, arguments: tuple[Nested, ...], sizes: dict[str, int]) -> Nested:
        """The value of a model with control flow, or with ever new sizes."""
        if self._walks is None:
            return self._driver.call(self._entry, arguments, sizes)
        return self._walks.call(arguments, sizes)

    def _settings(self) -> Any:
        return settings() if self.threads is None else settings(threads=self.threads)

    def _arguments(self, arrays: tuple[Any, ...], sizes: Mapping[str, int]) -> tuple[Nested, ...]:
        model, names = self.model, [each.name for each in self._entry.function.parameters]
        if len(arrays) != len(names):
            expected = f"expected {len(names)} arguments ({', '.join(names)})"
            raise CallError(f"{model.entry}: {expected} but found {len(arrays)}")
        dims = [each.name for each in model.scheme_of(model.entry).variables if each.kind == "dimension"]
        for name in sizes:
            if name not in dims:
                raise CallError(f"{model.entry}: {unknown_name('dimension', name, dims)}")
        return tuple(
            checked_argument(value, kind, model.datatypes, f"{model.entry}: {name}")
            for value, kind, name in zip(arrays, self._parameters, names, strict=True)
        )

    def _program(self, arguments: tuple[Nested, ...], sizes: Mapping[str, int]) -> Program | None:
        assert self._segment is not None
        known = self._driver.sizes_of(self._entry, arguments, dict(sizes))
        needed = {name: known[name] for name in self._segment.sizes if name in known}
        values = [arguments[at] for at in self._picks()]
        return self._driver.program(self._entry.code, self._segment, values, needed)

    def _picks(self) -> tuple[int, ...]:
        """Which parameters the program takes, in its order."""
        assert self._segment is not None
        places = {parameter: at for at, parameter in enumerate(self._entry.function.parameters)}
        return tuple(places[term] for term in self._segment.inputs)  # type: ignore[index]

    def inputs_of(self, program: Program) -> dict[str, Nested]:
        """The inputs of a program by the parameters that they are (tuples in tuples), in the order of these.

        A parameter that the program does not read is not there.
        """
        waiting = iter(program.recording.inputs)
        read = {at: in_tuples(self._parameters[at], waiting) for at in self._picks()}
        return {self._entry.function.parameters[at].name: read[at] for at in sorted(read)}

    def _remember(self, arrays: tuple[Any, ...], sizes: Mapping[str, int], program: Program, *, is_torch: bool) -> None:
        """The short way for arguments of these shapes and types, where there is one."""
        kind = sys.modules["torch"].Tensor if is_torch else np.ndarray
        if sizes or not all(isinstance(each, kind) for each in arrays):
            return
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        made = _short_way_from_torch if is_torch else _short_way
        self._known[tuple((a.shape, a.dtype) for a in arrays)] = made(program, self._picks())

    # --- what it is

    def profile(self, *arrays: Any, seconds: float = 0.3, **sizes: int) -> Profile:
        """The time of each node, from runs for about so many seconds.

        Of a model with control flow also when each compiled piece is called: `profile.pieces`.
        """
        plain, _ = arrays_from_torch(arrays)
        with self._settings():
            arguments = self._arguments(plain, sizes)
            if self._segment is None:
                call = partial(self._unrolling.call, plain, sizes, lambda: arguments)
                return profiled_calls(self._driver, call, seconds)
            program = self._program(arguments, sizes)
            if program is None:
                raise CallError(f"{self.model.entry} was called with so many sizes that there is no program for these")
            return profiled(program, list(flat(tuple(mapped(arguments[at], dense) for at in self._picks()))), seconds)

    def __str__(self) -> str:
        of = print_type(self.model.type_of(self.model.entry))
        straight, driven = "one program in C for each sizes met", "driven by Python, with programs for straight pieces"
        kind = straight if self.is_straight else driven
        lines = [f"{self.model.entry}: {of}", f"  {kind}; {len(self.programs)} made"]
        return "\n".join([*lines, *(f"  {program}" for program in self.programs)])

    def __repr__(self) -> str:
        return f"<BuiltModel {self.model.entry}: {len(self.programs)} programs>"


def _walks(driver: Driver, entry: str) -> Walks | None:
    """The functions of a model as Python runs them; None for those that only the interpreter's machine can."""
    with suppress(ModelError):
        return Walks(driver, entry)
    return None


def _nested(program: Program, results: list[Array]) -> Nested:
    """The results of a whole model as it gives them."""
    waiting = iter(results)
    return mapped(program.recording.outputs[0], lambda _: next(waiting))


def _short_way(program: Program, picks: tuple[int, ...]) -> Callable[[tuple[Any, ...]], Any]:
    """Calls a program with arrays of the types for which it was made."""
    return lambda arrays: _nested(program, program.run([dense(arrays[at]) for at in picks]))


def _short_way_from_torch(program: Program, picks: tuple[int, ...]) -> Callable[[tuple[Any, ...]], Any]:
    def call(tensors: tuple[Any, ...]) -> Any:
        if program.needs_addresses and all(addresses := [address_of(tensors[at]) for at in picks]):
            return to_torch(_nested(program, program.run_at(addresses)))
        arrays, _ = arrays_from_torch(tensors)
        return to_torch(_nested(program, program.run([dense(arrays[at]) for at in picks])))

    return call


def build_model(
    model: Model, /, target: str | Target = "c", *, calls: Mapping[str, Callable[..., Any]] | None = None,
    threads: int | None = None,
) -> BuiltModel:  # fmt: skip
    """A callable that computes what a model does, by compiled kernels on one planned arena.

    `calls` are functions of Python by the names of functions of the model, which they stand for: they take and give
    arrays.  `threads` fixes the number of threads (None: the settings say).  BuildError for another target than this
    machine's "c", without a compiler, or for an unknown name.
    """
    if target != "c":
        advice = "its operators, one by one, are built for others"
        raise BuildError(f"a model is built for target='c', this machine, not {shown(target)}; {advice}")
    whole = isinstance(threads, int) and not isinstance(threads, bool)
    if threads is not None and not (whole and 1 <= threads <= THREADS_LIMIT):
        limits = f"a whole number from 1 to {THREADS_LIMIT}, or None"
        raise BuildError(f"threads={threads!r} does not fit; expected {limits}")
    for name, function in (calls or {}).items():
        if name not in model.functions:
            raise BuildError(f"calls: {unknown_name('function', name, model.functions)}")
        if not callable(function):
            raise BuildError(f"calls: {name!r} is given {shown(function)}; expected a function of arrays")
    built = BuiltModel(model, dict(calls or {}), threads)
    return built if model.scheme_of(model.entry).variables else built.prepare()
