"""The Partition: a model with regions, which engine computes each, what that costs and why, and its callables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from workbench.graph.engines.engine_records import Engine
from workbench.graph.engines.region_calls import RegionCall, Report, Watch
from workbench.graph.engines.sites import Site
from workbench.graph.evaluation.evaluating import evaluate_on, evaluation_machine
from workbench.graph.evaluation.machine import Machine
from workbench.graph.models import Model
from workbench.records import record
from workbench.runtime.measuring.timing import duration


@record(eq=False)
class Placed:
    """A region: the function of the model that stands for it, its engine and calls, and why it is there.

    `seconds` is what it was measured to cost, if it was; `others` what it would cost elsewhere, or why not.
    """

    name: str
    engine: Engine
    calls: tuple[Site, ...]
    reason: str
    seconds: float | None
    others: Mapping[str, float | str]

    def __str__(self) -> str:
        cost = "" if self.seconds is None else f", {duration(self.seconds)}"
        operators = " ".join(site.name for site in self.calls)
        lines = [f"{self.name} on {self.engine.name}{cost}: {operators}", f"    {self.reason}"]
        for who, what in self.others.items():
            lines.append(f"    {who}: {duration(what) if isinstance(what, float) else what}")
        return "\n".join(lines)


@record(eq=False)
class Left:
    """A call that the host computes, and what each engine has against it."""

    call: str
    reasons: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.call}: " + "; ".join(f"{who}: {why}" for who, why in self.reasons.items())


@record(eq=False)
class Partition:
    """A model divided among engines.

    `original` is the model in graph form, `model` the one in which each region is a function, called where its nodes
    stood.  `regions` maps the name of such a function to what is known of it, `left` are the calls of the host.
    `totals` are expected seconds of this division ("chosen") and of others, where costs were measured.
    """

    original: Model
    model: Model
    regions: Mapping[str, Placed]
    left: tuple[Left, ...]
    engines: tuple[Engine, ...]
    watch: Watch
    by: str
    totals: Mapping[str, float]

    @cached_property
    def _calls(self) -> dict[str, RegionCall]:
        return {
            name: RegionCall(name, self.model.functions[name], placed.engine, self.watch)
            for name, placed in self.regions.items()
        }

    @cached_property
    def _machine(self) -> Machine:
        return evaluation_machine(self.model, self.watch.host, self._calls)

    def compiled(self) -> dict[str, RegionCall]:
        """For each region the callable that takes the place of its function: arrays in, an array or a tuple out.

        It compiles when it is first called with arrays of a kind.
        """
        return dict(self._calls)

    @property
    def reports(self) -> tuple[Report, ...]:
        """What engines have done wrong so far."""
        return tuple(report for each in self._calls.values() for report in each.reports)

    def evaluate(self, /, *arrays: Any, **sizes: int) -> Any:
        """What the model computes, regions by their engines and the rest by the host."""
        return evaluate_on(self._machine, self.model, arrays, sizes)

    def __str__(self) -> str:
        lines = [f"{len(self.regions)} regions by {self.by}, {len(self.left)} calls left to the host"]
        lines += [f"expected, {name}: {duration(seconds)}" for name, seconds in self.totals.items()]
        lines += map(str, self.regions.values())
        lines += [f"host: {each}" for each in self.left]
        return "\n".join([*lines, *map(str, self.reports)])

    def __repr__(self) -> str:
        return f"<Partition {len(self.regions)} regions among {', '.join(each.name for each in self.engines)}>"
