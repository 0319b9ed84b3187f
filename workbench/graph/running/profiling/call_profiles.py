"""The profile of a model with control flow: what Python calls of compiled code, when, and the nodes of each call."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, perf_counter_ns
from typing import Any

from workbench.graph.running.drivers import Driver
from workbench.graph.running.profiling.profiles import Piece, Profile, node_time
from workbench.graph.running.profiling.watches import Run
from workbench.graph.running.recursion.segment_calls import SegmentPlan

LEAST_RUNS = 3


def profiled_calls(driver: Driver, call: Callable[[], Any], seconds: float) -> Profile:
    """The profile of the shortest of several calls, which run for about so many seconds after one to warm up."""
    call()
    shortest: tuple[int, int, list[Run]] | None = None
    count, end = 0, perf_counter() + seconds
    while count < LEAST_RUNS or perf_counter() < end:
        began, runs = _watched(driver, call)
        took = perf_counter_ns() - began
        count += 1
        if shortest is None or took < shortest[0]:
            shortest = took, began, runs
    assert shortest is not None
    took, began, runs = shortest
    return _profile(driver, runs, began, took / 1e6, count)


def _watched(driver: Driver, call: Callable[[], Any]) -> tuple[int, list[Run]]:
    """When a call began, and what ran in it."""
    runs = driver.watch.runs = list[Run]()
    began = perf_counter_ns()
    try:
        call()
    finally:
        driver.watch.runs = None
    return began, runs


def _profile(driver: Driver, runs: list[Run], began: int, milliseconds: float, count: int) -> Profile:
    known = {program: _of(driver, key) for key, program in driver.programs.items()}
    pieces = tuple(
        Piece(*known[run.program], (run.begin - began) / 1e6, (run.end - run.begin) / 1e6, len(run.program.calls))
        for run in runs
    )
    nodes = tuple(
        node_time(call, ns / 1e6)
        for run in runs
        for call, ns in zip(run.program.calls, run.nanoseconds.tolist(), strict=True)
    )
    return Profile(nodes, milliseconds, count, pieces)


def _of(driver: Driver, key: tuple[Any, ...]) -> tuple[str, int]:
    """The function that a program is a piece of, and how many calls of the piece it computes."""
    first, *rest = key
    if isinstance(first, str):
        return first, 1
    if not isinstance(first, SegmentPlan):
        return driver.function_of(first), 1
    (many,) = rest
    return driver.function_of(first.segment), 1 if many is None else many[1]
