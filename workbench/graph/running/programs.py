"""`Program`: a recording whose kernels are built, called in order with addresses into one arena."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import perf_counter_ns
from typing import Any

import numpy as np

from workbench.errors import KernelError, LoweringError
from workbench.graph.running.hosted_calls import Hosted, by_oracle, computed, host_function
from workbench.graph.running.memory_plans import Storage, planned_arena
from workbench.graph.running.packed_constants import PackedConstants, packed_constant
from workbench.graph.running.profiling.watches import Watch
from workbench.graph.running.recording.finishing import finisher
from workbench.graph.running.recording.independent_calls import Beside, parallel_groups
from workbench.graph.running.recording.recordings import Array, OperatorCall, RecordedCall, Recording, Value, flat
from workbench.graph.running.runners import runner
from workbench.graph.running.step_kernels import StepKernel, most_workspace, step_kernels
from workbench.records import record
from workbench.runtime.arrays.memory import data_address, result_maker
from workbench.runtime.host.machine import this_machine, thread_count
from workbench.schedules.analysis.thread_shares import ThreadShares
from workbench.settings import current

ALIGNMENT = 128
FIRST_SLOT = 4
"""In `wb_model_frame` of runner.c: before it are three tables and the workspace."""


@record(eq=False)
class Native:
    """Steps begin..end of a program, which run without Python."""

    begin: int
    end: int


@record(eq=False)
class Frame:
    """Memory for one run of a program: arena and workspace, and behind `address` what runner.c takes of it."""

    memory: Array
    base: int
    head: ctypes.Array[ctypes.c_uint64]
    address: int
    threads: int


class Program:
    """What a recording computes, for arrays of its inputs' types that are dense: `program.run(arrays)`.

    Several threads may run it at once: each run has memory of its own.  Constants are packed for the kernels that read
    them.
    """

    def __init__(
        self, recording: Recording, threads: int | None, packed: PackedConstants | None = None,
        watch: Watch | None = None,
    ) -> None:  # fmt: skip
        self.recording, self.threads, self.watch = recording, threads, watch or Watch()
        self.storage = Storage(recording)
        calls = [call for call in recording.calls if call not in self.storage.views]
        on_host = {call: function for call in calls if (function := host_function(call)) is not None}
        own = (call for call in calls if isinstance(call, OperatorCall) and call not in on_host)
        kernels = step_kernels(own, self.constants_of)
        self.groups = {group[0].name: group for group in self._beside(kernels)}
        by_call = dict[RecordedCall, StepKernel | LoweringError](kernels.items())
        self._spaces = {name: most_workspace(map(by_call.get, group)) for name, group in self.groups.items()}
        self.arena = planned_arena(self.storage.lifetimes(beside=tuple(self.groups.values())))
        by_name = {call.name: (call,) for call in recording.calls} | self.groups
        ordered = (call for name in self.arena.order for call in by_name[name])
        self.calls = [call for call in ordered if call not in self.storage.views]
        self.packed = self._packed(kernels, {} if packed is None else packed)
        self._assemble(kernels, on_host)
        self._spare: list[Frame] = []
        self._run = runner()
        self._threads = current(), thread_count(threads)

    def __str__(self) -> str:
        kernels = len({kernel.key for _, kernel in self.stepped})
        hosted = sum(isinstance(part, Hosted) for part in self.parts)
        constants = sum(value.bytes for value in self.constants)
        inputs = ", ".join(f"{value.name}: {value.dtype.name}{list(value.shape)}" for value in self.recording.inputs)
        beside = f", {hosted} calls of Python" if hosted else ""
        return "\n".join([
            f"({inputs}): {len(self.steps)} kernel calls of {kernels} kernels{beside}, "
            f"{len(self.storage.views)} views, "
            f"arena {self.arena.bytes} bytes, constants {constants} bytes",
            *(f"  {note}" for note in self.notes),
        ])  # fmt: skip

    def constants_of(self, call: OperatorCall) -> frozenset[str]:
        """The inputs of a call that are constants, or views of such; numbers excepted."""
        inputs = call.inputs.items()
        return frozenset(n for n, value in inputs if value.shape and self.storage.root(value).array is not None)

    def slot_of(self, value: Value) -> int:
        """The number of the address of a tensor: of inputs, results, what is in the arena, constants, in this order."""
        return self.slot[self.storage.root(value)]

    # --- assembly

    def _beside(self, kernels: Mapping[OperatorCall, StepKernel | LoweringError]) -> Beside:
        """Calls that run beside one another, each by a thread of its own."""
        shares: dict[RecordedCall, ThreadShares] = {
            call: kernel.shares for call, kernel in kernels.items()
            if isinstance(kernel, StepKernel) and all(value.bytes for value in call.results)
        }  # fmt: skip
        machine = this_machine()
        return parallel_groups(self.recording, shares, thread_count(self.threads), machine.costs.region_seconds)

    def _packed(
        self, kernels: Mapping[OperatorCall, StepKernel | LoweringError], known: PackedConstants
    ) -> dict[tuple[OperatorCall, str], Value]:
        """The constants that kernels take packed, by call and parameter; each is packed once, `known` ones before."""
        found: dict[tuple[OperatorCall, str], Value] = {}
        for call, kernel in kernels.items():
            for packed in kernel.packed if isinstance(kernel, StepKernel) else ():
                value = call.inputs[packed.source]
                array = self.storage.root(value).array
                assert array is not None
                key = id(array), packed.kernel.key
                if key not in known:
                    known[key] = array, packed_constant(packed, array.reshape(value.shape))
                found[call, packed.array] = known[key][1]
        return found

    def _assemble(
        self, kernels: dict[OperatorCall, StepKernel | LoweringError], on_host: dict[RecordedCall, Callable[..., Any]]
    ) -> None:
        self.slot = self._numbered()
        self.steps: list[tuple[int, ...]] = []
        self.places: list[int] = []
        self.copies: list[tuple[int, int, int]] = []
        self.parts: list[Native | Hosted] = []
        self.stepped: list[tuple[OperatorCall, StepKernel]] = []
        self.notes: list[str] = []
        begin = 0
        for number, call in enumerate(self.calls):
            kernel = kernels.get(call) if isinstance(call, OperatorCall) else None
            if isinstance(kernel, StepKernel) and isinstance(call, OperatorCall):
                self._add(number, call, kernel)
                continue
            if begin < len(self.steps):
                self.parts.append(Native(begin, len(self.steps)))
                begin = len(self.steps)
            if isinstance(kernel, LoweringError):
                self.notes.append(f"{call.name} is computed by the oracle: {kernel}")
            self.parts.append(Hosted(number, call, on_host.get(call) or by_oracle(call)))
        if begin < len(self.steps):
            self.parts.append(Native(begin, len(self.steps)))
        self.step_table = np.array(self.steps, np.int64).reshape(-1, 8)
        self.place_table = np.array([*self.places, 0], np.int64)
        self.copy_table = np.array([*self.copies, (0, 0, 0)], np.int64)
        self._tables = [table.ctypes.data for table in (self.step_table, self.place_table, self.copy_table)]
        roots = self.storage.results
        self._makers = [result_maker(root.shape, root.dtype) for root in roots]
        self._head = struct.Struct(f"={len(self.recording.inputs) + len(roots)}Q")
        outputs = [(self.slot_of(value), value) for value in flat(self.recording.outputs)]
        constants = {self.slot[value]: value.array for value in self.constants}
        self._finish, ends_alone = finisher(outputs, len(self.recording.inputs), len(roots), constants)
        self._native_only = ends_alone and all(isinstance(part, Native) for part in self.parts)

    def _numbered(self) -> dict[Value, int]:
        """The slots of the addresses of tensors: inputs, results, what is in the arena, constants, packed ones last."""
        self.inside = [value for call in self.calls for value in call.results if value.name in self.arena.offsets]
        self.plain = [value for value in self.recording.constants if value not in self.storage.source]
        self.constants = [*self.plain, *dict.fromkeys(self.packed.values())]
        every = (*self.recording.inputs, *self.storage.results, *self.inside, *self.constants)
        return {value: at for at, value in enumerate(every)}

    def _add(self, number: int, call: OperatorCall, kernel: StepKernel) -> None:
        """A step; none for a call that writes nothing and checks nothing."""
        if not kernel.checks and not any(value.bytes for value in call.results):
            return
        results = dict(zip(call.op.outputs, call.results, strict=True))
        first, begin = len(self.places), len(self.copies)
        given = {**call.inputs, **results, **{p.array: self.packed[call, p.array] for p in kernel.packed}}
        self.places += [self.slot_of(given[name]) for name in kernel.parameters]
        for output, initial, result in zip(call.op.outputs, call.initial, call.results, strict=True):
            if initial is not None:
                self.copies.append((self.slot_of(result), self.slot_of(initial), result.bytes))
            elif output in kernel.zeros:
                self.copies.append((self.slot_of(result), -1, result.bytes))
        beside = len(self.groups.get(call.name, (call,))), self._spaces.get(call.name, 0)
        self.steps.append((kernel.address, number, first, len(kernel.parameters), begin, len(self.copies), *beside))
        self.stepped.append((call, kernel))

    # --- runs

    def run(self, inputs: list[Array], nanoseconds: Array | None = None) -> list[Array]:
        """The outputs, flat, for dense arrays; KernelError for an index out of range.

        To `nanoseconds`, int64 for each of `calls`, is added what it took.
        """
        if self.watch.runs is not None and nanoseconds is None:
            return self.watch.timed(self, inputs)
        return self._ran([data_address(array) for array in inputs], inputs, nanoseconds)

    def run_at(self, addresses: list[int]) -> list[Array]:
        """The same where the arrays at these addresses hold the inputs; for a program that `needs_addresses` only."""
        return self._ran(addresses, [], None)

    @property
    def needs_addresses(self) -> bool:
        """Whether nothing but compiled code looks at the inputs."""
        return self._native_only and self.watch.runs is None

    def _ran(self, addresses: list[int], inputs: list[Array], nanoseconds: Array | None) -> list[Array]:
        results = [make() for make in self._makers]
        frame = self._free_frame()
        self._head.pack_into(frame.head, FIRST_SLOT * 8, *addresses, *map(data_address, results))
        try:
            for part in self.parts:
                if isinstance(part, Native):
                    self._native(part, frame, nanoseconds)
                else:
                    self._hosted(part, frame, inputs, results, nanoseconds)
        finally:
            self._spare.append(frame)
        return self._finish(inputs, results)

    def _native(self, part: Native, frame: Frame, nanoseconds: Array | None) -> None:
        clock = None if nanoseconds is None else nanoseconds.ctypes.data
        failed = self._run(frame.address, part.begin, part.end, frame.threads, clock)
        if failed:
            raise self._failure(failed & 0xFFFFFFFF, (failed >> 32) - 1)

    def _failure(self, status: int, at: int) -> KernelError:
        call, kernel = self.stepped[at]
        check = kernel.checks[status - 1]
        label = f" ({call.label})" if call.label else ""
        return KernelError(
            f"in the call of {call.op.name}{label}: an index of {check.array} is out of range: {check.text} "
            f"(dimension {check.dimension})"
        )

    def _hosted(
        self, part: Hosted, frame: Frame, inputs: list[Array], results: list[Array], nanoseconds: Array | None
    ) -> None:
        def array(value: Value) -> Array:
            return self._array(value, frame, inputs, results)

        begin = perf_counter_ns()
        for value, new in zip(part.call.results, computed(part, array), strict=True):
            array(value)[...] = new
        if nanoseconds is not None:
            nanoseconds[part.number] += perf_counter_ns() - begin

    def _array(self, value: Value, frame: Frame, inputs: list[Array], results: list[Array]) -> Array:
        """A tensor of a run as an array."""
        root = self.storage.root(value)
        at, count = self.slot[root], len(inputs)
        if root.array is not None:
            return root.array.reshape(value.shape)
        if at < count:
            return inputs[at].reshape(value.shape)
        if at < count + len(results):
            return results[at - count].reshape(value.shape)
        begin = frame.base - frame.memory.ctypes.data + self.arena.offsets[root.name]
        return np.ndarray(value.shape, value.dtype, frame.memory, begin)

    def _free_frame(self) -> Frame:
        """Memory for a run on as many threads as the settings say: that of an earlier run, or new."""
        settings, threads = self._threads
        if settings is not (now := current()):
            threads = thread_count(self.threads)
            self._threads = now, threads
        with suppress(IndexError):
            while True:
                frame = self._spare.pop()
                if frame.threads == threads:
                    return frame
        return self._new_frame(threads)

    def _new_frame(self, threads: int) -> Frame:
        alone = (kernel.workspace(threads) for _, kernel in self.stepped)
        workspace = max((*alone, *(count * space for *_, count, space in self.steps)), default=0)
        memory = np.empty(self.arena.bytes + workspace + 2 * ALIGNMENT, np.uint8)
        base = -(-memory.ctypes.data // ALIGNMENT) * ALIGNMENT
        head = (ctypes.c_uint64 * (FIRST_SLOT + len(self.slot)))(*self._tables, base + self.arena.bytes)
        for value in self.inside:
            head[FIRST_SLOT + self.slot[value]] = base + self.arena.offsets[value.name]
        for value in self.constants:
            assert value.array is not None
            head[FIRST_SLOT + self.slot[value]] = value.array.ctypes.data
        return Frame(memory, base, head, ctypes.addressof(head), threads)
