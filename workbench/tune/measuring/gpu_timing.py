"""The process that owns the GPU: a candidate is checked against the oracle, then timed by events beside a reference."""

from __future__ import annotations

import fcntl
import os
import pickle
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.codegen.kernel import Kernel
from workbench.errors import KernelError
from workbench.records import record
from workbench.runtime.arrays.foreign import several
from workbench.runtime.gpu.building import build_on_gpu
from workbench.runtime.gpu.drivers.choosing import the_driver
from workbench.runtime.gpu.drivers.driver import Device, DriverError
from workbench.runtime.gpu.memory import on_device
from workbench.tune.measuring.timing import CLEARLY_SLOWER, Crashed, Load, Prepare, Timed, Wrong
from workbench.tune.measuring.workload import Workload, begun

FIRST_SECONDS, LONG_SECONDS = 0.01, 0.08
"""Device time for a first look, and for a candidate that may be among the best."""

MOST_SECONDS = 1.0
"""No candidate is timed longer, whatever patience there is."""


@record(slots=True)
class WhichGpu:
    """Asks for the GPU."""


class _Owner:
    """What the process knows of its study."""

    def __init__(self) -> None:
        self.workload: Workload | None = None
        self.inputs: Mapping[str, Any] = {}
        self.reference: Any = None

    def prepare(self, request: Prepare) -> None:
        """Load the workload; its inputs go to the GPU once, for all candidates."""
        self.workload, self.reference = Workload.load(Path(request.workload)), None
        self.inputs = on_gpu(self.workload.inputs)

    def timed(self, request: Load) -> Timed | Wrong | Crashed:
        """Right and so fast, or wrong; Crashed where the GPU gives this process no further work."""
        assert self.workload is not None
        kernel: Kernel = pickle.loads(Path(request.library).read_bytes())
        with alone_on(the_driver().device):
            try:
                call = prepared(kernel, replace(self.workload, inputs=self.inputs), spoilt=not request.right)
                wrong = "" if request.right else self._wrong(call)
                if wrong:  # one that is wrong may have written anywhere
                    self.inputs = on_gpu(self.workload.inputs)
                result = Wrong(wrong) if wrong else self._timed(call, request)
            except (KernelError, DriverError) as error:
                return Wrong(str(error)) if _alive() else Crashed(str(error))
        if request.reference and isinstance(result, Timed):
            self.reference = call
        return result

    def _wrong(self, call: Any) -> str:
        """What is wrong with the results of one call; "" if they are right."""
        assert self.workload is not None
        found = [np.asarray(x.numpy()) for x in several(call())]
        judged = self.workload.expected.judged(found)
        return "" if judged else str(judged)

    def _timed(self, call: Any, request: Load) -> Timed:
        """A first look, longer where it is worth it, with the reference beside it."""
        lower, _, upper = call.device_seconds(FIRST_SECONDS)
        hopeless = request.best is not None and lower > CLEARLY_SLOWER * request.best
        if hopeless:
            return Timed(lower, lower, upper, None, 1)
        seconds = min(MOST_SECONDS, LONG_SECONDS * request.patience)
        beside = self.reference
        first = beside.device_seconds(seconds / 4)[0] if beside is not None else None
        lower, _, upper = call.device_seconds(seconds)
        last = beside.device_seconds(seconds / 4)[0] if beside is not None else None
        reference = None if first is None or last is None else (first + last) / 2
        return Timed(lower, lower, upper, reference, 1)


def prepared(kernel: Kernel, workload: Workload, *, spoilt: bool = True) -> Any:
    """A call with the workload's arguments on the GPU, its outputs `spoilt`: filled with bytes that are no results."""
    driver = the_driver()
    run = build_on_gpu(kernel, driver)
    slots = run.layout(dict(kernel.sizes)).outputs
    before = [workload.before[slot.parameter.name] for slot in slots]
    arrays = [begun(b, s) if spoilt or b is not None else None for b, s in zip(before, slots, strict=True)]
    out = [None if array is None else on_device(array, driver) for array in arrays]
    return run.prepared(*(workload.inputs[p.name] for p in kernel.signature.inputs), out=out)


def on_gpu(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays with whole dimensions and one element after another as copies on the GPU; the rest as it is."""
    driver = the_driver()
    plain = {n for n, x in inputs.items() if isinstance(x, np.ndarray) and x.ndim and x.flags.c_contiguous}
    return {name: on_device(x, driver) if name in plain else x for name, x in inputs.items()}


def _alive() -> bool:
    """Whether the context takes further work."""
    driver = the_driver()
    try:
        with driver.entered():
            driver.synchronize_all()
    except DriverError:
        return False
    return True


@contextmanager
def alone_on(device: Device) -> Iterator[None]:
    """Nobody else of this user times on the GPU meanwhile."""
    path = Path(tempfile.gettempdir()) / f"tensor-workbench-gpu-{os.getuid()}-{device.ordinal}"
    with path.open("w") as file:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


_owner = _Owner()


def answer(request: WhichGpu | Prepare | Load) -> Device | Timed | Wrong | Crashed | None:
    """What the helper process does."""
    match request:
        case WhichGpu():
            return the_driver().device
        case Prepare():
            return _owner.prepare(request)
    return _owner.timed(request)
