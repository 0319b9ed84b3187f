"""Runs on data of a form that comes again: what its constructors decide is decided once, and the run is one program.

A list of so many elements, a tree of this form: where nothing but that decides what is called, the calls of a run are
known before it (as those of an unrolled loop), and need no Python between them.  Against that stands that calls of the
pieces (`walks.py`) run many at once; which is faster is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.graph.evaluation.value_forms import Form, put_together, taken_apart
from workbench.graph.running.drivers import MOST_SIZES, Driver, dense
from workbench.graph.running.programs import Program
from workbench.graph.running.recording.recordings import Array
from workbench.graph.terms.types import DataType, TupleType, Type
from workbench.records import record

MOST_PARTS = 2048
"""Constructors and tensors in the arguments of a run that may become a program, and calls in it."""
WALKED = 3
"""Runs of a form before there is a program for it: most trees come once."""
TIMED = 4
"""Runs of the program, the first of them to warm up, after which the faster way stays."""
COUNTED = 1 << 14
"""Forms whose runs are remembered."""

Key = tuple[Form, tuple[tuple[str, int], ...]]
"""The form of what is given, and sizes that nothing of it tells."""
Walk = Callable[[tuple[Any, ...], dict[str, int]], Any]


def _array_kind(leaf: Any) -> tuple[Any, ...] | None:
    return (leaf.shape, leaf.dtype) if type(leaf) is np.ndarray else None


@record(eq=False)
class Unrolled:
    """A program for all arguments of one form; `form` is that of its value, whose leaves are outputs by `places`."""

    program: Program
    form: Form
    places: tuple[int, ...]

    def run(self, leaves: Iterable[Array]) -> Any:
        """The value for these tensors."""
        found = self.program.run([dense(each) for each in leaves])
        return put_together(self.form, [found[at] for at in self.places])


@dataclass(eq=False)
class Contest:
    """Two ways of running arguments of one form: the least seconds of each, and how often the program was timed.

    `unrolled` is None where there is no program.
    """

    unrolled: Unrolled | None
    walk_seconds: float
    seconds: float = float("inf")
    timed: int = 0

    @property
    def is_lost(self) -> bool:
        """Whether walking is all there is, or was faster."""
        return self.unrolled is None or (self.timed >= TIMED and self.seconds > self.walk_seconds)

    def run(self, leaves: list[Array]) -> Any:
        """The value by the program."""
        assert self.unrolled is not None
        if self.timed >= TIMED:
            return self.unrolled.run(leaves)
        began = perf_counter()
        found = self.unrolled.run(leaves)
        self.seconds = min(self.seconds, perf_counter() - began)
        self.timed += 1
        return found


class Unrolling:
    """Runs of a model by the form of what is given; `walk` runs what has no program, or a slower one.

    Only for models that take data; functions of Python keep their order, so those that call them are walked.
    """

    def __init__(self, driver: Driver, entry: str, parameters: tuple[Type, ...], walk: Walk) -> None:
        self.driver, self.entry, self.walk = driver, entry, walk
        self.applies = any(map(_has_data, parameters)) and not driver.foreign
        self.contests: dict[Key, Contest] = {}
        self.walked: dict[int, tuple[float, ...]] = {}

    def call(self, given: tuple[Any, ...], sizes: dict[str, int], arguments: Callable[[], tuple[Any, ...]]) -> Any:
        """The value for what Python gave, which are these `arguments` of the model.

        What a value of Python is in a model, and that it fits, its form tells: it is found out where that is new.
        """
        apart = taken_apart(given, _array_kind, MOST_PARTS) if self.applies else None
        if apart is None:
            return self.walk(arguments(), dict(sizes))
        leaves, form = apart
        key = form, tuple(sizes.items())
        contest = self.contests.get(key) or self._begun(key, arguments)
        if contest is None:
            return self._timed_walk(key, arguments(), sizes)
        return self.walk(arguments(), dict(sizes)) if contest.is_lost else contest.run(leaves)

    def _begun(self, key: Key, arguments: Callable[[], tuple[Any, ...]]) -> Contest | None:
        """A program for a form beside its walk; None if it was not walked often enough, or there are too many."""
        seconds = self.walked.get(hash(key), ())
        if len(seconds) < WALKED or len(self.contests) >= MOST_SIZES:
            return None
        with self.driver.lock:
            if key not in self.contests:
                self.contests[key] = Contest(self._unrolled(key, arguments()), min(seconds))
        return self.contests[key]

    def _unrolled(self, key: Key, arguments: tuple[Any, ...]) -> Unrolled | None:
        """The program for a form; None where its run is not known before it, or cannot be: then walking says why."""
        apart = taken_apart(arguments, _array_kind, MOST_PARTS)
        if apart is None:
            return None
        _, sizes = key
        driver = self.driver
        try:
            recording, result, places = driver.tracer.trace_run(self.entry, apart[1], dict(sizes), MOST_PARTS)
        except WorkbenchError:
            return None
        program = driver.programs[self.entry, key] = Program(recording, driver.threads, driver.packed, driver.watch)
        return Unrolled(program, result, places)

    def _timed_walk(self, key: Key, arguments: tuple[Any, ...], sizes: dict[str, int]) -> Any:
        began = perf_counter()
        found = self.walk(arguments, dict(sizes))
        if len(self.walked) >= COUNTED:
            self.walked.clear()
        before = self.walked.get(hash(key), ())
        self.walked[hash(key)] = (*before, perf_counter() - began)[-WALKED:]
        return found


def _has_data(of: Type) -> bool:
    match of:
        case DataType():
            return True
        case TupleType(items):
            return any(map(_has_data, items))
        case _:
            return False
