"""`Walks`: the functions of a model that has control flow, as Python runs them over compiled segments."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from types import GeneratorType
from typing import Any

from workbench.errors import CallError, ModelError
from workbench.graph.evaluation.values import Cell, Data
from workbench.graph.running.drivers import Driver
from workbench.graph.running.recording.segments import Segment
from workbench.graph.running.recursion.agendas import Agenda, computed, plain
from workbench.graph.running.recursion.segment_calls import NO_SIZES, SegmentCall
from workbench.graph.running.recursion.walk_text import WalkWriter
from workbench.graph.terms.nodes import Call, Function
from workbench.lang.operator import Operator
from workbench.records import record

Steps = Generator[Any, Any, Any]


@record(slots=True, eq=False)
class Maker:
    """A constructor as a value."""

    name: str

    def __call__(self, *fields: Any) -> Data:
        return Data(self.name, fields)


class Walk:
    """A function of a model as a value: Python may call it, with arrays, tuples, data."""

    __slots__ = ("count", "start")

    def __init__(self, start: Any, count: int) -> None:
        self.start, self.count = start, count

    def __call__(self, *arguments: Any) -> Any:
        """The function's value for values of a model."""
        if len(arguments) != self.count:
            counted = f"expected {self.count} arguments but found {len(arguments)}"
            raise CallError(f"a function of the model: {counted}")
        return _finished(Agenda(), self.start, *arguments)


class Walks:
    """The functions that a function of the model may call, itself included, as one text of Python: `source`.

    `call(arguments, sizes)` gives its value.  ModelError for a function that is too deep to be written so.
    """

    def __init__(self, driver: Driver, entry: str) -> None:
        self.driver, self.entry = driver, entry
        writer = WalkWriter(driver.foreign, driver.sized, driver.typing.types)
        start = writer.global_name(entry)
        done: set[str] = set()
        while waiting := [name for name in writer.called if name not in done]:
            for name in waiting:
                done.add(name)
                writer.function(name, driver.functions[name], driver.closure(name).code)
        self.source = "\n".join(writer.lines) + "\n"
        space: dict[str, Any] = {
            **writer.objects, "CallError": CallError, "Cell": Cell, "Data": Data, "Generator": GeneratorType,
            "Maker": Maker, "NO_SIZES": NO_SIZES, "begin": self._begin, "closure": self._closure, "plain": plain,
            "sizes_of": self._sizes_of,
        }  # fmt: skip
        codes = [driver.closure(name).code for name in done]
        segments = {node: code for code in codes for block in code.blocks.values() for node in block}
        for name, found in writer.objects.items():
            if isinstance(found, Segment):
                space[name] = SegmentCall(driver, segments[found], found)  # type: ignore[index]
        try:
            exec(compile(self.source, f"<functions of {entry}>", "exec"), space)
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise ModelError(f"{entry} is too deep for Python's compiler: {error}") from None
        self._start = space[start]

    def call(self, arguments: tuple[Any, ...], sizes: dict[str, int]) -> Any:
        """The value of the function for arguments, and sizes that none of them tells; CallError if these disagree."""
        sizes = self.driver.sizes_of(self.driver.closure(self.entry), arguments, sizes)
        return _finished(Agenda(), self._start, *arguments, given=sizes)

    # --- what the text calls

    def _closure(self, start: Any, of: int | str) -> Walk:
        return Walk(start, of if isinstance(of, int) else len(self.driver.functions[of].parameters))

    def _sizes_of(self, function: Function, outer: Mapping[str, int], *arguments: Any) -> dict[str, int]:
        return self.driver.sizes_of_call(function, arguments, dict(outer))

    def _begin(self, agenda: Agenda, node: Call, sizes: Mapping[str, int], function: Any, *arguments: Any) -> Any:
        """A call of what only a run knows: its value, or the generator of it."""
        if type(function) is Walk:
            return function.start(agenda, *arguments)
        if type(function) is Maker:
            return Data(function.name, arguments)
        given = tuple(map(computed, arguments))
        if isinstance(function, Operator):
            return self.driver.operator_call(node, function, given, sizes)
        return function(*given)


def _finished(agenda: Agenda, start: Callable[..., Steps], *arguments: Any, **more: Any) -> Any:
    """The value of a function with all that it made computed; where it fails, cells hold what could be."""
    try:
        return agenda.finished(returned_value(start(agenda, *arguments, **more)))
    except Exception:
        agenda.abandon()
        raise


def returned_value(steps: Steps) -> Any:
    """The value that a generator returns in the end.

    What it yields is run meanwhile, what it returns in its place; no stack of Python's grows.
    """
    stack: list[Steps] = []
    value: Any = None
    while True:
        try:
            called = steps.send(value)
        except StopIteration as done:
            value = done.value
            if type(value) is GeneratorType:
                steps, value = value, None
            elif stack:
                steps = stack.pop()
            else:
                return value
        else:
            stack.append(steps)
            steps, value = called, None
