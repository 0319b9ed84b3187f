"""One call of a GPU kernel whose arrays lie on the device: checked, laid out, ready to be launched."""

from __future__ import annotations

import ctypes
import statistics
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.codegen.kernel import ArrayParameter
from workbench.errors import CallError
from workbench.runtime.arrays.foreign import as_array, several
from workbench.runtime.arrays.layout import Layout, Slot
from workbench.runtime.arrays.symbols import solve_symbols
from workbench.runtime.gpu.dlpack import c_steps
from workbench.runtime.gpu.drivers.driver import DEFAULT_STREAM, plain_address
from workbench.runtime.gpu.events import events_of, in_stream_order
from workbench.runtime.gpu.launching import STATUS_BYTES, has_status, kernel_starts, sequence
from workbench.runtime.gpu.memory import DeviceArray, on_device
from workbench.runtime.gpu.views import Library, View, is_on_device, library_of, view_of
from workbench.runtime.kernels.aliasing import refuse_aliases
from workbench.runtime.kernels.argument_fallback import check
from workbench.runtime.kernels.arguments import named_arguments, scalar_bits
from workbench.runtime.kernels.launch_values import Memory, scalar_value

if TYPE_CHECKING:
    from workbench.runtime.gpu.gpu_kernel import GpuKernel


BATCH_SECONDS = 2e-3
MOST_BATCHES = 100
MOST_LAUNCHES = 10_000


class DeviceCall:
    """`call()` launches and gives the results; `device_seconds()` times launches on the device."""

    def __init__(self, kernel: GpuKernel, arrays: tuple[Any, ...], out: Any, scalars: dict[str, Any]) -> None:
        self.kernel, self.driver = kernel, kernel.driver
        named, sizes = named_arguments(kernel.kernel, arrays, scalars)
        self.library = self._library([*named.values(), *several(out)])
        self.stream = self._stream()
        parameters = kernel.signature.inputs
        inputs = [None if p.by_value else self._input(named[p.name], p.name, p.dtype) for p in parameters]
        given = self._given(out)
        shapes = [None if v is None else v.shape for v in (*inputs, *given)]
        self.layout: Layout = kernel.layout(solve_symbols(kernel.signature, shapes, sizes))
        inputs = [self._fitting(s, v) for s, v in zip(self.layout.inputs, inputs, strict=True)]
        self._refuse_aliases(inputs, given)
        self._waited_for([v for v in (*inputs, *given) if v is not None])
        self.results, outputs = self._outputs(given, [v for v in inputs if v is not None])
        self._kept = (named, inputs, given, outputs)
        scalars = {p.name: _scalar(named[p.name], p) for p in parameters if p.by_value}
        pairs = zip((*parameters, *kernel.signature.outputs), (*inputs, *outputs), strict=True)
        places = {p.name: ctypes.c_void_p(v.address) for p, v in pairs if v is not None}
        self.memory = self._memory(places, scalars)
        self.starts = tuple(kernel_starts(kernel.kernel.launches, kernel.loaded.functions, self.memory))

    def _library(self, values: list[Any]) -> Library:
        found = next((v for v in values if is_on_device(v, self.driver)), None)
        return library_of(found, self.driver)

    def _stream(self) -> int:
        """The stream to launch into: the library's, where the driver can."""
        wanted = self.library.stream()
        if wanted is None:
            return self.driver.stream
        if wanted == DEFAULT_STREAM or self.driver.adopts:
            return wanted
        self.driver.synchronize_all()
        return self.driver.stream

    @property
    def _foreign(self) -> bool:
        """Whether the library's stream is one that we cannot launch into, so that both wait for each other."""
        wanted = self.library.stream()
        return wanted not in (None, self.stream)

    def _input(self, value: Any, name: str, dtype: Any) -> View:
        if is_on_device(value, self.driver):
            return view_of(value, self.driver, name)
        copy = on_device(np.ascontiguousarray(as_array(value, dtype, name)), self.driver)
        copy.reachable()
        return view_of(copy, self.driver, name)

    def _given(self, out: Any) -> list[View | None]:
        outputs = self.kernel.signature.outputs
        given = (None,) * len(outputs) if out is None else several(out)
        if len(given) != len(outputs):
            raise CallError(f"{self.kernel.name} has {len(outputs)} outputs; out= gives {len(given)}")
        views: list[View | None] = []
        for parameter, value in zip(outputs, given, strict=True):
            if value is None and parameter.role == "inout":
                raise CallError(f"{self.kernel.name} reads and updates {parameter.name}: give the array as out=")
            if value is not None and not is_on_device(value, self.driver):
                raise CallError(f"{self.kernel.name}: the inputs lie on the GPU, out {parameter.name} does not")
            views.append(None if value is None else view_of(value, self.driver, parameter.name))
            if value is not None and not views[-1].writable:  # type: ignore[union-attr]
                raise CallError(f"{self.kernel.name}: out {parameter.name} cannot be written to")
        return views

    def _fitting(self, slot: Slot | None, view: View | None) -> View | None:
        """The view itself, or that of a copy in C order; CallError if shape or type are wrong."""
        if slot is None or view is None:
            return None
        check(slot, view, self.kernel.name)  # type: ignore[arg-type]
        if lies_well(slot, view):
            return view
        ordered = self.library.contiguous(view.value) if c_ordered(slot) and self.library.contiguous else None
        if ordered is None:
            where = f"{self.kernel.name}: {slot.parameter.name} has strides {view.strides} bytes"
            raise CallError(f"{where}, expected {slot.strides}: give a copy in that order")
        return view_of(ordered, self.driver, slot.parameter.name)

    def _waited_for(self, views: list[View]) -> None:
        """What others have begun on these arrays, and our own copies, come before the launch."""
        if any(view.pending for view in views):
            self.driver.synchronize_all()
        self._ours = any(isinstance(view.value, DeviceArray) for view in views)
        if self._ours:
            in_stream_order(self.driver, self.driver.stream, self.stream)

    def _outputs(self, given: list[View | None], inputs: list[View]) -> tuple[list[Any], list[View]]:
        """What the caller gets, and where the kernel writes: the caller's array unless it is an input's too."""
        self._refuse_shared(given)
        results: list[Any] = []
        places: list[View] = []
        self._copies: list[tuple[View, View]] = []
        for slot, view in zip(self.layout.outputs, given, strict=True):
            if view is not None:
                check(slot, view, self.kernel.name)  # type: ignore[arg-type]
                if not lies_well(slot, view):
                    where = f"{self.kernel.name}: out {slot.parameter.name} has strides {view.strides} bytes"
                    raise CallError(f"{where}, expected {slot.strides}: give an array in that order")
            name = slot.parameter.name
            apart = view is None or self.kernel.signature.keeps(slot.parameter) or any(meet(view, v) for v in inputs)
            place = view_of(self.library.empty(slot.shape, slot.dtype), self.driver, name) if apart else view
            assert place is not None
            if view is not None and place is not view:
                self._copies.append((view, place))
            results.append(place.value if view is None else view.value)
            places.append(place)
        self._zeroed = [
            place for slot, view, place in zip(self.layout.outputs, given, places, strict=True)
            if view is None and slot.parameter.zero_fill
        ]  # fmt: skip
        return results, places

    def _refuse_aliases(self, inputs: list[View | None], given: list[View | None]) -> None:
        program = getattr(self.kernel.kernel.schedule, "program", None)
        signature = self.kernel.signature
        read, updated = (
            {p.name: v for p, v in zip(side, views, strict=True) if v is not None}
            for side, views in ((signature.inputs, inputs), (signature.outputs, given))
        )
        refuse_aliases(None if program is None else program.original.definition, read, updated, meet)

    def _refuse_shared(self, given: list[View | None]) -> None:
        """CallError for outputs with a byte in common."""
        present = [(s.parameter.name, v) for s, v in zip(self.layout.outputs, given, strict=True) if v is not None]
        for n, (name, view) in enumerate(present):
            for other, earlier in present[:n]:
                if meet(view, earlier):
                    raise CallError(f"{self.kernel.name}: out {other} and {name} share memory; give each its own")

    def _memory(self, places: dict[str, ctypes.c_void_p], scalars: dict[str, Any]) -> Memory:
        sizes = self.layout.sizes
        words = ctypes.c_void_p(0)
        if self.kernel.kernel.buffers:
            self._space = self._bytes(self.kernel.workspace_bytes(sizes))
            buffers = self.kernel.buffers_at(self._space.address, sizes)
            places |= {name: ctypes.c_void_p(address) for name, address in buffers.items()}
        if has_status(self.kernel.kernel):
            self._status = self._bytes(STATUS_BYTES)
            words.value = self._status.address
        return Memory(places, scalars, sizes, words)

    def _bytes(self, size: int) -> View:
        made = self.library.empty((max(1, size),), np.dtype(np.uint8))
        return view_of(made, self.driver, "workspace")

    def __call__(self) -> Any:
        """Launch on the stream; KernelError for an index out of range, if the kernel looks for it."""
        kernel, driver = self.kernel, self.driver
        with kernel.named_errors():
            for view, place in self._copies:
                driver.copy(place.address, view.address, view.nbytes, self.stream)
            for place in self._zeroed:
                driver.clear(place.address, place.nbytes, self.stream)
            self.launch()
            if self.words:
                self.kernel.refuse_status(self.words, self.stream, self.layout)
            for view, place in self._copies:
                driver.copy(view.address, place.address, view.nbytes, self.stream)
            if self._ours:
                in_stream_order(driver, self.stream, driver.stream)
            if self._foreign:
                driver.synchronize(self.stream)
            results = [self.library.given(result) for result in self.results]
        return results[0] if len(results) == 1 else tuple(results)

    @property
    def words(self) -> int:
        """The address of the status words; 0 for a kernel that checks nothing."""
        return plain_address(self.memory.status)

    def launch(self) -> None:
        """The launches alone."""
        if self.words:
            self.driver.clear(self.words, STATUS_BYTES, self.stream)
        self._begin(self.stream)

    @cached_property
    def _begin(self) -> Callable[[int], None]:
        return sequence(self.driver, self.starts)

    @property
    def repeatable(self) -> bool:
        """Whether another call with arrays like these has the same launches: nothing was copied or waited for."""
        named, inputs, given, _ = self._kept
        pairs = zip(self.kernel.signature.inputs, inputs, strict=True)
        usual = self.library.name == "torch" and not (self._copies or self._ours or self._foreign)
        as_given = all(v is None or v.value is named[p.name] for p, v in pairs)
        return usual and as_given and (not any(given) or all(given))

    def spaces(self) -> list[tuple[View, list[ctypes.c_void_p]]]:
        """The memory that was taken for this call alone, each with the places of the launches that lie in it."""
        buffers = [self.memory.addresses[b.array] for b in self.kernel.kernel.buffers]
        found = [(self._space, buffers)] if buffers else []
        return [*found, (self._status, [self.memory.status])] if self.words else found

    def zeroed(self) -> list[tuple[str, int]]:
        """The outputs that become 0 before the launches, with their bytes."""
        names = [s.parameter.name for s, v in zip(self.layout.outputs, self._kept[2], strict=True)
                 if v is None and s.parameter.zero_fill]  # fmt: skip
        return [(name, place.nbytes) for name, place in zip(names, self._zeroed, strict=True)]

    def device_seconds(self, seconds: float = 0.1) -> tuple[float, float, float]:
        """Lower quartile, median and upper quartile of the time that the launches of one call take on the device."""
        with self.kernel.named_errors():
            self.launch()
            with events_of(self.driver).lock:
                one = max(self._timed(1), 1e-6)
                times = min(MOST_LAUNCHES, max(1, round(BATCH_SECONDS / one)))
                batches = max(5, min(MOST_BATCHES, round(seconds / (one * times))))
                found = [self._timed(times) for _ in range(batches)]
        lower, middle, upper = statistics.quantiles(found, n=4)
        return lower, middle, upper

    def _timed(self, times: int) -> float:
        driver, events = self.driver, events_of(self.driver)
        driver.record(events.begun, self.stream)
        for _ in range(times):
            self.launch()
        driver.record(events.ended, self.stream)
        driver.reached(events.ended)
        return driver.seconds(events.begun, events.ended) / times


def lies_well(slot: Slot, view: View) -> bool:
    """Whether strides and alignment are right (strides do not matter where nothing is stepped over)."""
    if 0 in view.shape:
        return True
    steps = zip(view.shape, view.strides, slot.strides, strict=True)
    return view.address % slot.dtype.itemsize == 0 and all(n == 1 or own == wanted for n, own, wanted in steps)


def c_ordered(slot: Slot) -> bool:
    """Whether the kernel expects C order."""
    return slot.strides == tuple(s * slot.dtype.itemsize for s in c_steps(slot.shape))


def meet(a: View, b: View) -> bool:
    """Whether two arrays in C order have a byte in common."""
    return a.address < b.address + b.nbytes and b.address < a.address + a.nbytes


def _scalar(value: Any, parameter: ArrayParameter) -> Any:
    """A scalar as it is stored, in a place that all launches share."""
    return scalar_value(parameter.dtype, scalar_bits(_number(value), parameter))


def _number(value: Any) -> Any:
    """A scalar that may lie on the GPU."""
    if isinstance(value, DeviceArray):
        return value.numpy()[()]
    item = getattr(value, "item", None)
    return item() if item is not None and not isinstance(value, np.ndarray | np.generic) else value
