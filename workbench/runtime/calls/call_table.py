"""What is known of an operator's calls: how two are told apart, and the kernels found so far."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from workbench import poly
from workbench.errors import CallError, KernelError, WorkbenchError, shown
from workbench.lang.operator import Operator
from workbench.runtime.arrays.foreign import several
from workbench.runtime.calls.preparing import Plan
from workbench.runtime.calls.promises import promise_checks, without
from workbench.runtime.host.locks import Lock
from workbench.runtime.kernels.launch import CompiledKernel
from workbench.settings import Settings

# Kernels remembered for one operator under one choice of settings.
REMEMBERED = 512

Key = tuple[Any, ...]


class Runner:
    """One kernel, ready for the arguments of an operator's call."""

    __slots__ = ("checks", "kernel", "picks", "plan", "promises")

    def __init__(self, plan: Plan, kernel: CompiledKernel) -> None:
        op = plan.op
        self.plan = plan
        self.kernel = kernel
        self.promises = () if plan.unchecked else promise_checks(op, plan.sizes)
        known = kernel.signature.checks
        self.checks = without(op, plan.sizes, self.promises, known) if self.promises else ()
        inputs = [p.name for p in kernel.signature.inputs]
        self.picks = None if inputs == list(op.parameters) else [op.parameters.index(name) for name in inputs]

    def __call__(self, arrays: tuple[Any, ...], out: Any) -> Any:
        for place, check in self.checks:
            check(arrays[place])
        picked = arrays if self.picks is None else tuple([arrays[n] for n in self.picks])
        try:
            return self.kernel.run(picked, out)
        except KernelError as error:
            for place, check in self.promises:
                check(arrays[place])
            raise located(self.plan, arrays, out, error) from error


class CallTable:
    """Makes keys of calls, and keeps the runners under each choice of settings."""

    def __init__(self, op: Operator) -> None:
        parameters = list(enumerate(op.parameters))
        self.tensors = [n for n, name in parameters if name not in op.scalars and op.tensors[name].rank]
        self.shaping = [n for n, name in parameters if name in op.scalars]
        self.count = len(parameters)
        self.only_tensors = len(self.tensors) == self.count
        self.out_tells = bool(op.generic) or any(op.tensors[o].role == "inout" for o in op.outputs)
        self.chosen: dict[bool | None, tuple[Settings, dict[Key, Runner]]] = {}
        self.all: dict[Key, dict[Key, Runner]] = {}
        self.locks: dict[Key, Lock] = {}

    def runners(self, settings: Settings, unchecked: bool | None) -> dict[Key, Runner]:
        """The runners under some settings."""
        if not (unchecked is None or unchecked is False or unchecked is True):
            raise CallError(f"unchecked={shown(unchecked)} does not fit; expected True, False or None")
        known = self.chosen.get(unchecked)
        if known is not None and known[0] is settings:
            return known[1]
        omit = settings.unchecked if unchecked is None else unchecked
        found = self.all.setdefault((omit, settings.threads, settings.compiler), {})
        self.chosen[unchecked] = (settings, found)
        return found

    def key(self, arrays: tuple[Any, ...], out: Any, sizes: dict[str, Any]) -> Key | None:
        """What is equal for two calls that use one kernel; None if an argument is not what it should be."""
        if len(arrays) != self.count:
            return None
        try:
            if self.only_tensors:
                key = [(a.shape, a.strides, a.dtype) for a in arrays]
            else:
                key = [(a.shape, a.strides, a.dtype) for a in [arrays[n] for n in self.tensors]]
                key += [index(arrays[n]) for n in self.shaping]
            if out is not None:
                key += self._out_key(out)
            if sizes:
                key += [(name, index(value)) for name, value in sizes.items()]
            return tuple(key)
        except (AttributeError, TypeError):
            return None

    def _out_key(self, out: Any) -> list[Any]:
        """What `out` adds: nothing where it is dense and tells no size."""
        if type(out) is np.ndarray and not self.out_tells and out.flags.c_contiguous:
            return []
        return [None if o is None else (o.shape, o.strides, o.dtype) for o in several(out)]

    def lock(self, key: Key) -> Lock:
        """So that two threads do not prepare the same kernel."""
        return self.locks.setdefault(key, Lock())

    def remember(self, runners: dict[Key, Runner], key: Key, plan: Plan) -> Runner:
        """Build the kernel of a plan and keep it."""
        runner = Runner(plan, plan.build())
        if len(runners) >= REMEMBERED:
            runners.clear()
        runners[key] = runner
        self.locks.pop(key, None)
        return runner

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """An operator is stored and sent without its kernels."""
        return type(None), ()


def call_table(op: Operator) -> CallTable:
    """The table of an operator, kept in the operator itself, so that both go together."""
    with _making:
        if op.__dict__.get("calls") is None:  # never called, or stored and come back
            op.__dict__["calls"] = CallTable(op)
    return op.__dict__["calls"]


_making = Lock()


# -- Where in the data an index is out of range: the oracle walks the same reads, slowly, and stops there --

# The oracle is asked only for programs it goes through in about a second.
INSTANCES = 2_000_000


def located(plan: Plan, arrays: tuple[Any, ...], out: Any, error: KernelError) -> KernelError:
    """The error of a kernel, with the place that the oracle finds for it."""
    from workbench.lang import evaluate  # the oracle is not needed where all goes well

    program = plan.schedule.program
    try:
        if sum(poly.points(program, s.id) for s in program.statements) > INSTANCES:
            return error
        evaluate(plan.op, *arrays, out=out)
    except CallError as found:
        return KernelError(f"{error}\n{found}")
    except WorkbenchError:
        return error
    return error
