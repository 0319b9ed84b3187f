"""Calls with tensors like those of a call before: what was checked then holds, and only addresses are exchanged.

The first call with arguments of some shapes, strides, types and devices goes through `DeviceCall`, with all its checks.
What may differ in the next one is where the arrays lie, so that their alignment and whether they share memory are
looked at each time; anything unusual goes the long way again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.codegen.kernel import ArrayParameter
from workbench.runtime.arrays.foreign import several
from workbench.runtime.gpu.drivers.driver import Driver
from workbench.runtime.gpu.launching import STATUS_BYTES, Start, sequence
from workbench.runtime.host.locks import Lock
from workbench.runtime.kernels.arguments import positional_names, scalar_bits
from workbench.runtime.kernels.launch_values import scalar_value

if TYPE_CHECKING:
    from workbench.runtime.gpu.device_call import DeviceCall
    from workbench.runtime.gpu.gpu_kernel import GpuKernel

MOST_KEPT = 64
MOST_STARTS = 256
PLAIN = 3e38  # every float below has a value in 32 bits
WHOLE, REAL = (bool, int), (float, np.float16, np.float32, np.float64)


class RepeatedCalls:
    """The calls of one kernel that may come again, by the facts about their arguments."""

    def __init__(self, kernel: GpuKernel) -> None:
        self.kernel = kernel
        self._kept: dict[Any, RepeatedCall] = {}

    def __call__(self, arrays: Sequence[Any], scalars: Mapping[str, Any], out: Any) -> Any:
        """The results, or None if no call like this was made before."""
        kept = self._kept
        if not kept:
            return None
        outputs = () if out is None else out if type(out) in (tuple, list) else (out,)
        values = (*arrays, *scalars.values(), *outputs) if scalars or outputs else arrays
        call = kept.get(_key(arrays, scalars, values))
        return None if call is None else call(values, outputs)

    def remember(self, call: DeviceCall, arrays: Sequence[Any], scalars: Mapping[str, Any], out: Any) -> None:
        """Keep a call that was made, if it was a usual one."""
        outputs = () if out is None else several(out)
        values = (*arrays, *scalars.values(), *outputs)
        key = _key(arrays, scalars, values)
        if key is None or not call.repeatable or len(call.starts) > MOST_STARTS:
            return
        names = (*positional_names(self.kernel.kernel, len(arrays))[: len(arrays)], *scalars)
        if any(_is_tensor(v) and name not in call.memory.addresses for name, v in zip(names, values, strict=False)):
            return  # a number in a tensor: what it holds is not among the facts
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        self._kept[key] = RepeatedCall(self.kernel, call, names, values, len(outputs))


def _key(arrays: Sequence[Any], scalars: Mapping[str, Any], values: Sequence[Any]) -> Any:
    """What a call's arguments have to have in common with another's; None for those that are not looked at."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    tensor, parameter = torch.Tensor, torch.nn.Parameter
    facts: list[Any] = [len(arrays), *scalars] if scalars else [len(arrays)]
    for value in values:
        kind = type(value)
        if kind is tensor or kind is parameter:
            if value.layout is not torch.strided:
                return None
            facts += (value.shape, value.stride(), value.dtype, value.device)
        elif kind in WHOLE:
            facts += (kind, value)
        elif kind in REAL:
            facts.append(kind)
        else:
            return None
    return tuple(facts)


class RepeatedCall:
    """The launches of a call, and the places in them that other arguments fill."""

    def __init__(
        self, kernel: GpuKernel, call: DeviceCall, names: Sequence[str], values: Sequence[Any], outputs: int
    ) -> None:
        self.kernel, self.layout = kernel, call.layout
        places, parameters = call.memory.addresses, kernel.signature.inputs
        written = [p.name for p in kernel.signature.outputs]
        given = [*zip((*names, *written), values, strict=False)]
        itself = next(v for v in values if _is_tensor(v))
        arrays = [(n, places[name], v.nbytes, v.itemsize - 1) for n, (name, v) in enumerate(given) if _is_tensor(v)]
        self._read = [a for a in arrays if a[0] < len(names)]
        self._written = [a for a in arrays if a[0] >= len(names)]
        by_name = {p.name: p for p in parameters}
        self._numbers = [
            (n, call.memory.scalars[name], by_name[name]) for n, (name, v) in enumerate(given) if type(v) in REAL
        ]  # fmt: skip
        self._made = [] if outputs else [(places[n], _like(v)) for n, v in zip(written, call.results, strict=True)]
        self._spaces = _spaces(call, itself)
        self._words = call.memory.status if call.words else None
        self._stream = _stream_of(kernel.driver, itself)
        self._begin = sequence(kernel.driver, [*_clears(call), *call.starts])
        self._lock = Lock()

    def __call__(self, values: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """The results; None where this call has to go the long way: arrays meet or are not aligned, or another thread
        is at this place."""
        if not self._lock.taken_now():
            return None
        try:
            if not self._placed(values):
                return None
            for n, cell, parameter in self._numbers:
                cell.value = _stored(values[n], parameter)
            results = outputs or self._results()
            spaces = [_lent(make, cells) for make, cells in self._spaces]
            stream = self._stream()
            self._begin(stream)
            if self._words is not None:
                with self.kernel.named_errors():
                    self.kernel.refuse_status(self._words.value, stream, self.layout)
            del spaces  # in the order of the stream: who gets this memory next comes later
        finally:
            self._lock.give()
        return results[0] if len(results) == 1 else tuple(results)

    def _placed(self, values: Sequence[Any]) -> bool:
        """The arguments' addresses are in the launches; false if one is not aligned, or an output meets another."""
        spans = []
        for n, cell, size, mask in self._read:
            cell.value = at = values[n].data_ptr()
            if at & mask:
                return False
            spans.append((at, at + size))
        for n, cell, size, mask in self._written:
            cell.value = at = values[n].data_ptr()
            end = at + size
            if at & mask:
                return False
            for other, other_end in spans:
                if at < other_end and other < end:
                    return False
            spans.append((at, end))
        return True

    def _results(self) -> list[Any]:
        results = []
        for cell, make in self._made:
            made = make()
            cell.value = made.data_ptr()
            results.append(made)
        return results


def _stored(value: Any, parameter: ArrayParameter) -> Any:
    """What a scalar's place holds."""
    dtype = parameter.dtype
    if type(value) is float and dtype.is_float and dtype.bits >= 32 and abs(value) < PLAIN:
        return value
    return scalar_value(dtype, scalar_bits(value, parameter)).value


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "data_ptr")


def _like(tensor: Any) -> Callable[[], Any]:
    torch = sys.modules["torch"]
    return partial(torch.empty, tensor.shape, dtype=tensor.dtype, device=tensor.device)


def _spaces(call: DeviceCall, tensor: Any) -> list[tuple[Callable[[], Any], list[tuple[Any, int]]]]:
    """What is allocated for each call: how, and the places that lie in it with their offsets."""
    torch, found = sys.modules["torch"], []
    for view, cells in call.spaces():
        make = partial(torch.empty, (view.nbytes,), dtype=torch.uint8, device=tensor.device)
        found.append((make, [(cell, (cell.value or 0) - view.address) for cell in cells]))
    return found


def _lent(make: Callable[[], Any], cells: Sequence[tuple[Any, int]]) -> Any:
    space = make()
    start = space.data_ptr()
    for cell, offset in cells:
        cell.value = start + offset
    return space


def _clears(call: DeviceCall) -> list[Start]:
    """The bytes that become 0 before the launches: cells that no statement writes, and the words of checks."""
    nothing = (0, 0, 0)
    zeroed = [(name, call.memory.addresses[name], size) for name, size in call.zeroed()]
    if call.words:
        zeroed.append(("status", call.memory.status, STATUS_BYTES))
    return [Start(name, None, nothing, nothing, 0, (), cell, size) for name, cell, size in zeroed]


def _stream_of(driver: Driver, tensor: Any) -> Callable[[], int]:
    """What tells the current stream of the tensor's library."""
    torch = sys.modules["torch"]
    if not tensor.is_cuda:
        return lambda: driver.stream
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # a tenth of the time that the object takes
    if raw is not None:
        return partial(raw, tensor.device.index)
    return lambda: int(torch.cuda.current_stream(tensor.device).cuda_stream)
