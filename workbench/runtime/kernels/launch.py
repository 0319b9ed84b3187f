"""`CompiledKernel`: a kernel that can be called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.codegen.kernel import Kernel, Signature
from workbench.errors import KernelError
from workbench.lang import fold
from workbench.lang.dtypes import BFLOAT16, INT64
from workbench.lang.expr import Const
from workbench.lang.operator import Operator
from workbench.runtime.arrays.layout import Layout, layout_of
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.runtime.host.machine import this_machine, thread_count
from workbench.runtime.kernels.argument_fallback import careful_call
from workbench.runtime.kernels.border import LOOK, NO_MEMORY, STOPPED, Border
from workbench.runtime.kernels.c_order import Places, c_positions, in_c_order
from workbench.settings import Settings, current
from workbench.target import Target

if TYPE_CHECKING:
    from workbench.certificates import Certificate


# A symbolic kernel remembers this many combinations of shapes.
REMEMBERED = 256

Rebuild = Callable[[dict[str, tuple[int, ...]]], "CompiledKernel | None"]


class CompiledKernel:
    """A kernel compiled and loaded: `kernel(*arrays, out=None, **scalars)`.

    Arrays are positional, in the order of `signature.inputs`; scalars may also be keywords.  The result is
    an array, or a tuple when there are several outputs; `out=` takes the same and is returned.  Arrays that
    do not lie in memory as the kernel was compiled for go to `rebuild`, a function of their strides in
    elements that gives another kernel, or else through a copy.  CallError if an argument does not fit,
    KernelError if an index found in the data is out of range.
    """

    def __init__(
        self,
        kernel: Kernel,
        border: Border,
        library: Path,
        toolchain: Toolchain,
        notes: Sequence[str] = (),
        rebuild: Rebuild | None = None,
        threads: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.border = border
        self.library = library
        self.toolchain = toolchain
        self.notes = (*kernel.notes, *notes)
        self.rebuild = rebuild
        self.threads = threads
        self._lacking = _lacking(kernel.target)
        self._enter = self._entry()
        self._only = None if kernel.signature.symbols else layout_of(kernel.signature, kernel.sizes)
        self._threads = (current(), thread_count(threads))
        self._layouts: dict[tuple[tuple[int, ...], ...], Layout] = {}
        self._last: Layout | None = None
        self._places: dict[int, Places | None] = {}

    @property
    def name(self) -> str:
        return self.kernel.name

    @property
    def source(self) -> str:
        """The generated C."""
        return self.kernel.source

    @property
    def body(self) -> str:
        """The generated C from the kernel's function on."""
        return self.kernel.body

    @property
    def signature(self) -> Signature:
        return self.kernel.signature

    @property
    def schedule(self) -> Any:
        """The Schedule the kernel was generated from (None for hand-written text)."""
        return self.kernel.schedule

    @property
    def operator(self) -> Operator | None:
        """The operator that the schedule's program computes (None for hand-written text)."""
        program = getattr(self.schedule, "program", None)
        return None if program is None else program.original.definition

    @cached_property
    def certificate(self) -> Certificate:
        """The certificate of the schedule, as `wb.certify` gives it; it is kept beside the compiled library."""
        from workbench.certificates import certify

        found = certify(self.schedule, self.kernel.target)
        with suppress(OSError):
            self.library.with_suffix(".certificate.json").write_text(found.to_json(), encoding="utf-8")
        return found

    def __call__(self, *arrays: Any, out: Any = None, **scalars: Any) -> Any:
        if scalars:
            return self._careful(arrays, out, scalars)
        if out is None and len(arrays) != len(self.signature.inputs):
            return self._in_place(arrays)
        return self.run(arrays, out)

    def _in_place(self, arrays: tuple[Any, ...]) -> Any:
        """A call as C writes it, with the sizes the kernel was compiled for."""
        if len(arrays) not in self._places:
            inputs, outputs = ([p.name for p in side] for side in (self.signature.inputs, self.signature.outputs))
            program = getattr(self.schedule, "program", None)
            self._places[len(arrays)] = c_positions(program, inputs, outputs, len(arrays))
        found = self._places[len(arrays)]
        if found is None or any(type(arrays[n]) is not int or arrays[n] != size for n, size in found.sizes):
            return self._careful(arrays, None, {})
        outputs = tuple([arrays[n] for n in found.outputs])
        return self.run(tuple([arrays[n] for n in found.inputs]), outputs[0] if len(outputs) == 1 else outputs)

    def run(self, arrays: tuple[Any, ...], out: Any) -> Any:
        """The call with its positional arguments as a tuple."""
        # With `out` the layout of the last call is tried first: the border looks at every shape anyway.
        layout = self._only or (self._last if out is not None else None) or self._known(arrays)
        if layout is None or self._enter is None or (out is None and layout.results is None):
            return self._careful(arrays, out, {})
        try:
            result = layout.results() if out is None else out  # type: ignore[misc]
        except MemoryError as error:
            raise self._no_memory(error) from error
        settings, threads = self._threads
        if settings is not (now := current()):
            threads = self._follow(now)
        try:
            status = self._enter(arrays, result, layout.address, threads, 0)
        except KeyboardInterrupt as interrupt:
            raise self.interrupted(layout, interrupt) from None
        if status == 0:
            return result
        if status == LOOK:
            return self._look(arrays, out, layout)
        raise self.status_error(status, layout)

    def _known(self, arrays: tuple[Any, ...]) -> Layout | None:
        """The layout of an earlier call with arrays of these shapes."""
        known = self._layouts.get(tuple([getattr(a, "shape", ()) for a in arrays]))
        self._last = known or self._last
        return known

    def _look(self, arrays: tuple[Any, ...], out: Any, tried: Layout) -> Any:
        """Something is not as the border expects it: perhaps only the shapes are those of an earlier call."""
        if tried is self._last and (self._known(arrays) or tried) is not tried:
            return self.run(arrays, out)
        return self._careful(arrays, out, {})

    def _careful(self, arrays: tuple[Any, ...], out: Any, scalars: dict[str, Any]) -> Any:
        if self._lacking:
            instead = "target='c' is this machine; wb.export takes kernels elsewhere"
            what = f"{self.name} is for processors with {', '.join(self._lacking)}: this one lacks that"
            raise KernelError(f"{what}. {instead}")
        if out is None and getattr(self.schedule, "program", None) is not None:
            taken = in_c_order(self.schedule.program, arrays, out, scalars)
            if taken is not None:
                return self._careful((), taken.out, {**taken.inputs, **taken.sizes})
        try:
            return careful_call(self, arrays, out, scalars)
        except MemoryError as error:
            raise self._no_memory(error) from error

    def _no_memory(self, error: MemoryError) -> KernelError:
        return KernelError(f"{self.name}: not enough memory: {error}")

    def _follow(self, now: Settings) -> int:
        """Threads under changed settings; one pair, so that a concurrent call sees both or neither."""
        self._threads = (now, thread_count(self.threads))
        return self._threads[1]

    def layout(self, sizes: dict[str, int], shapes: tuple[tuple[int, ...], ...] | None = None) -> Layout:
        """The arguments' layout at known sizes; remembered for the `shapes` of the arguments."""
        if self._only is not None:
            return self._only
        found = layout_of(self.signature, sizes)
        if shapes is not None:
            if len(self._layouts) >= REMEMBERED:
                self._layouts.clear()
            self._layouts[shapes] = found
        return found

    def interrupted(self, layout: Layout, interrupt: KeyboardInterrupt) -> KeyboardInterrupt:
        """What an interrupt during a call leaves behind."""
        if not layout.was_stopped:
            return interrupt
        names = ", ".join(slot.parameter.name for slot in layout.outputs)
        return KeyboardInterrupt(f"{self.name} was stopped while it ran: {names} may be partly written")

    def status_error(self, status: int, layout: Layout) -> KernelError | KeyboardInterrupt:
        """What a status other than 0 means."""
        if status == STOPPED:
            return self.interrupted(layout, KeyboardInterrupt())
        if status == NO_MEMORY:
            needed = fold(self.signature.workspace or Const(0, INT64), layout.sizes)
            return KernelError(
                f"{self.name}: no memory for the kernel's temporaries, {needed:,} bytes ({needed / 2**30:,.1f} GiB)"
            )
        check = self.signature.checks[status - 1]
        place = f" in {check.statement}" if check.statement else ""
        left = "outputs that are not read may be partly written" if check.late else "nothing was written"
        return KernelError(
            f"{self.name}: an index of {check.array}{place} is out of range: {check.text} "
            f"(dimension {check.dimension}); {left}"
        )

    def _entry(self) -> Callable[..., int] | None:
        """The border, behind a view of bfloat16 arrays as bits (their buffers cannot be exported); None if no call may
        reach it.
        """
        call, signature = None if self._lacking else self.border.call, self.signature
        if call is not None and (kept := [n for n, p in enumerate(signature.outputs) if signature.keeps(p)]):
            call = restore_on_error(call, kept)
        halves = [n for n, p in enumerate(signature.inputs) if p.dtype == BFLOAT16 and not p.by_value]
        written = [n for n, p in enumerate(signature.outputs) if p.dtype == BFLOAT16]
        if call is None or not (halves or written):
            return call

        def with_bits(arrays: tuple[Any, ...], out: Any, *rest: int) -> int:
            outputs = out if isinstance(out, tuple) else (out,)
            outputs = _bits(outputs, written)
            return call(_bits(arrays, halves), outputs if isinstance(out, tuple) else outputs[0], *rest)

        return with_bits

    def __repr__(self) -> str:
        return f"<CompiledKernel {self.name} by {self.toolchain.name}: {self.library.parent.name[:12]}>"

    def __str__(self) -> str:
        return self.source


def _lacking(target: Target) -> list[str]:
    """Instructions of the processor that a kernel is compiled for, which this one lacks (ARM's are emulated)."""
    here = this_machine()
    named = target.march != "native" and target.is_arm == here.is_arm
    return [x for x in target.isa if x not in here.isa] if named else []


def _bits(arrays: tuple[Any, ...], places: list[int]) -> tuple[Any, ...]:
    """The tuple with bfloat16 arrays as uint16; what is no such array becomes None, which no kernel takes."""
    seen = list(arrays)
    for n in places[: len(seen)]:
        array = seen[n]
        if isinstance(array, np.ndarray) and array.dtype == BFLOAT16.numpy:
            seen[n] = array.view(np.uint16)
        else:
            seen[n] = None
    return tuple(seen)


# -- Outputs whose contents count: where a kernel finds a bad index while it runs, they are put back --

def restore_on_error(call: Callable[..., int], places: Sequence[int]) -> Callable[..., int]:
    """The border's `call`, which leaves the outputs at `places` as they were when its status is an error."""

    def call_and_restore(arrays: tuple[Any, ...], out: Any, *rest: int) -> int:
        outputs = out if isinstance(out, tuple) else (out,)
        kept = [outputs[n] for n in places if n < len(outputs)]
        if not all(isinstance(array, np.ndarray) for array in kept):
            return LOOK
        before = [array.copy() for array in kept]
        status = call(arrays, out, *rest)
        if status > 0:
            for array, old in zip(kept, before, strict=True):
                array[...] = old
        return status

    return call_and_restore
