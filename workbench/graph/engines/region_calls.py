"""Calls of regions: what an engine compiled; where it crashes, hangs or lies, the host takes over and says so."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import EngineError, WorkbenchError
from workbench.graph.engines.engine_records import Engine
from workbench.graph.engines.kept_engines import compiled_or_kept
from workbench.graph.engines.sites import ArrayType
from workbench.graph.engines.subgraphs import Subgraph, subgraph
from workbench.graph.engines.trials import in_child, within_seconds
from workbench.graph.terms.nodes import Function
from workbench.lang.dtypes import from_numpy
from workbench.records import record
from workbench.runtime.arrays.foreign import several

Run = Callable[..., Any]
Results = tuple[Any, ...]


@record(eq=False)
class Watch:
    """How engines are watched.

    `on_failure` is "host" (it computes the region, with a warning) or "raise".  `check` compares the first results for
    arrays of each kind with the oracle.  `isolate` tries them in a process of their own before.  Compiling and the
    first call may take `timeout_seconds`.  `host` computes one call of an operator.  `keep` says whether compiled
    engines are kept on disk, `shipped` is a folder of some that came with a saved partition.
    """

    host: Run
    on_failure: str = "host"
    check: bool = False
    isolate: bool = False
    timeout_seconds: float = 60.0
    keep: bool = True
    shipped: Path | None = None


@record(eq=False)
class Report:
    """Something that an engine did wrong, and what became of the region."""

    region: str
    engine: str
    stage: str
    reason: str
    outcome: str

    def __str__(self) -> str:
        return f"the engine {self.engine!r}, {self.stage} of {self.region}: {self.reason}; {self.outcome}"


@dataclass(eq=False)
class RegionCall:
    """The callable of a region: compiled anew for each kind of arrays (types and shapes), and remembered.

    What an engine did wrong stands in `reports`.
    """

    name: str
    function: Function
    engine: Engine
    watch: Watch
    reports: list[Report] = field(default_factory=list)
    _made: dict[tuple[Any, ...], tuple[Subgraph, Callable[..., Any] | None]] = field(default_factory=dict)

    def __call__(self, *arrays: Any) -> Any:
        """The region's value for arrays: an array, or a tuple of several."""
        given, key = taken_in(arrays)
        found = self._made.get(key)
        if found is None:
            return _single(self._first(key, given))
        region, compiled = found
        return _single(self._host(region, given) if compiled is None else self._again(key, region, compiled, given))

    @property
    def working(self) -> list[tuple[Subgraph, Callable[..., Any]]]:
        """What its engine has compiled so far, and not been found out with."""
        return [(region, compiled) for region, compiled in self._made.values() if compiled is not None]

    def subgraph(self, *arrays: Any) -> Subgraph:
        """The region as its engine gets it for arrays of this kind."""
        return subgraph(self.name, self.function, list(map(_type_of, map(np.asarray, arrays))))

    def _first(self, key: tuple[Any, ...], given: tuple[Any, ...]) -> Results:
        region = self.subgraph(*given)
        refusals = [f"{step}: {why}" for step in region.steps if (why := self.engine.refusal(step.site))]
        if refusals:
            return self._failed(key, region, given, "asked about these shapes", refusals[0])
        stage = "compiling"
        try:
            if self.watch.isolate:
                stage = "a first try in a process of its own"
                in_child(lambda: self.engine.compile(region)(*given), self.watch.timeout_seconds)
                stage = "compiling"
            make = partial(compiled_or_kept, self.engine, region, keep=self.watch.keep, shipped=self.watch.shipped)
            compiled = within_seconds(self.watch.timeout_seconds, make)
            stage = "the first call"
            results = checked_arrays(region, within_seconds(self.watch.timeout_seconds, lambda: compiled(*given)))
            if self.watch.check:
                stage = "the comparison with the oracle"
                compare(region, results, several(region.evaluate(*given)))
        except Exception as error:
            return self._failed(key, region, given, stage, worded(error))
        self._made[key] = (region, compiled)
        return results

    def _again(self, key: Any, region: Subgraph, compiled: Callable[..., Any], given: tuple[Any, ...]) -> Results:
        try:
            return checked_arrays(region, compiled(*given))
        except Exception as error:
            return self._failed(key, region, given, "a call", worded(error))

    def _failed(self, key: Any, region: Subgraph, given: tuple[Any, ...], stage: str, reason: str) -> Results:
        takes_over = self.watch.on_failure == "host"
        outcome = "the host computes it from now on" if takes_over else "nothing was computed"
        report = Report(self.name, self.engine.name, stage, reason, outcome)
        self.reports.append(report)
        if not takes_over:
            raise EngineError(str(report))
        warnings.warn(str(report), RuntimeWarning, stacklevel=5)
        self._made[key] = (region, None)
        return self._host(region, given)

    def _host(self, region: Subgraph, given: tuple[Any, ...]) -> Results:
        return several(region.run(given, self.watch.host))


def taken_in(arrays: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Arguments as an engine gets them, and what kind of arrays they are."""
    given = tuple(map(read_only, arrays))
    return given, tuple((each.dtype.str, each.shape) for each in given)


def read_only(array: Any) -> Any:
    """An array that an engine cannot write to."""
    found = np.asarray(array).view()
    found.flags.writeable = False
    return found


def _type_of(array: Any) -> ArrayType:
    """The type of an array; EngineError for elements that are none of the language."""
    dtype = from_numpy(array.dtype)
    if dtype is None:
        raise EngineError(f"arrays of {array.dtype} are none of the language")
    return ArrayType(dtype, array.shape)


def _single(results: Results) -> Any:
    """A tuple of several results, or the one."""
    return results if len(results) != 1 else results[0]


def checked_arrays(region: Subgraph, given: Any) -> Results:
    """What an engine gave as arrays of the types that inference says; EngineError if it is anything else."""
    results, wanted = several(given), region.result_types
    if len(results) != len(wanted):
        raise EngineError(f"returned {len(results)} results, expected {len(wanted)}")
    arrays = tuple(map(np.asarray, results))
    for at, (array, of) in enumerate(zip(arrays, wanted, strict=True)):
        if array.shape != of.shape or from_numpy(array.dtype) != of.dtype:
            shape = f"[{', '.join(map(str, array.shape))}]" if array.shape else ""
            raise EngineError(f"returned {array.dtype}{shape} as result {at}, expected {of}")
    return arrays


_TOLERANCES = {16: 2e-2, 32: 1e-4, 64: 1e-9}


def compare(region: Subgraph, found: Results, wanted: Results) -> None:
    """EngineError if results differ from the oracle's by more than another order of summation explains."""
    for at, (one, other, of) in enumerate(zip(found, wanted, region.result_types, strict=True)):
        tolerance = _TOLERANCES[of.dtype.bits] if of.dtype.is_float else 0.0
        a, b = np.asarray(one, "float64"), np.asarray(other, "float64")
        scale = np.max(np.abs(b[np.isfinite(b)]), initial=1.0)
        with np.errstate(invalid="ignore"):
            close = (np.abs(a - b) <= tolerance * scale) | (a == b) | (np.isnan(a) & np.isnan(b))
        if not close.all():
            place = tuple(map(int, np.argwhere(~close)[0]))
            raise EngineError(f"result {at} is wrong at {place}: {a[place]:g}, and the oracle says {b[place]:g}")


def worded(error: Exception) -> str:
    """An error in one line, with its type unless it is one of ours."""
    first = next(iter(str(error).strip().splitlines()), "")
    return first if isinstance(error, WorkbenchError) else f"{type(error).__name__}: {first}"
