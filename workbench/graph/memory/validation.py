"""What `Lifetimes` refuses: each mistake is said with its step, what was expected and what is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, get_args

from workbench.errors import WorkbenchError, shown, unknown_name
from workbench.graph.memory.byte_counts import (
    Bounds,
    Bytes,
    Span,
    byte_bounds,
    bytes_sum,
    never_above,
    size_text,
)
from workbench.graph.memory.steps import Buffer, Place, Share, Sharing, Step
from workbench.lang.algebra.polynomial import Polynomial


def refuse_strange_sizes(steps: tuple[Step, ...], buffers: tuple[Buffer, ...]) -> None:
    """WorkbenchError for a size or an offset that is neither a whole number nor a polynomial."""
    sizes: list[tuple[str, Any]] = [(f"buffer {b.name}", b.size) for b in buffers]
    sizes += [(f"step {step.name}", share.offset) for step in steps for share in step.shares]
    for where, size in sizes:
        if isinstance(size, bool) or not isinstance(size, int | Polynomial):
            _refuse(f"{where} has {shown(size)} bytes; expected a whole number, or a polynomial of sizes")


def refuse_nonsense(steps: tuple[Step, ...], buffers: tuple[Buffer, ...], bounds: tuple[tuple[str, Span], ...]) -> None:
    """WorkbenchError for the first thing that does not fit; sizes are all numbers or all polynomials."""
    _refuse_twice("buffer", (b.name for b in buffers))
    _refuse_twice("step", (s.name for s in steps))
    for name, (low, high) in bounds:
        if not 0 <= low <= high:
            _refuse(f"size {name} is bounded by {low}..{high}; expected 0 <= least <= greatest")
    ranges, known = dict(bounds), {b.name: b for b in buffers}
    for buffer in buffers:
        _check_buffer(buffer, ranges)
    _check_order(steps, known)
    for step in steps:
        for share in step.shares:
            _check_share(step, share, known, ranges)


def _refuse(message: str) -> NoReturn:
    raise WorkbenchError(f"lifetimes: {message}")


def _refuse_twice(what: str, names: Iterable[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            _refuse(f"{count} {what}s are named {name}; give each a name of its own")


def _check_buffer(buffer: Buffer, ranges: Bounds) -> None:
    if buffer.place not in get_args(Place):
        _refuse(f"buffer {buffer.name}: {unknown_name('place', buffer.place, get_args(Place))}")
    if (least := byte_bounds(buffer.size, ranges)[0]) < 0:
        fewest = "" if isinstance(buffer.size, int) else f" (at least {least})"
        _refuse(f"buffer {buffer.name} has {size_text(buffer.size)} bytes{fewest}; expected never less than 0")


# -- order -----------------------------------------------------------------------------------------


def _check_order(steps: tuple[Step, ...], known: Mapping[str, Buffer]) -> None:
    """Every buffer is written once, and before it is read; `after` names earlier steps."""
    written = {name for step in steps for name in step.writes}
    ready = {name for name, b in known.items() if b.place == "outside"} - written
    writer: dict[str, str] = {}
    names, done = [s.name for s in steps], set()
    for step in steps:
        for name in (*step.reads, *step.writes):
            if name not in known:
                _refuse(f"step {step.name}: {unknown_name('buffer', name, known)}")
        _check_reads(step, ready, written)
        _check_after(step, done, names)
        for name in step.writes:
            if name in writer:
                _refuse(f"{writer[name]} and {step.name} both write {name}; expected one of them to write another name")
            writer[name] = step.name
        ready.update(step.writes)
        done.add(step.name)
    for name, buffer in known.items():
        if buffer.place != "outside" and name not in writer:
            _refuse(f"no step writes {name}; what was given beforehand has the place 'outside'")


def _check_reads(step: Step, ready: set[str], written: set[str]) -> None:
    for name in step.reads:
        if name not in ready:
            why = "before it is written" if name in written else "but no step writes it; is it 'outside'?"
            _refuse(f"step {step.name} reads {name} {why}")


def _check_after(step: Step, done: set[str], names: list[str]) -> None:
    for name in step.after:
        if name not in done and name not in names:
            _refuse(f"step {step.name}: {unknown_name('step', name, names)}")
        if name not in done:
            _refuse(f"step {step.name} is to come after {name}, which has not run before it")


# -- sharing ---------------------------------------------------------------------------------------


def _check_share(step: Step, share: Share, known: Mapping[str, Buffer], ranges: Bounds) -> None:
    """The two belong to the step, and one lies in the other as its kind says."""
    if share.kind not in get_args(Sharing):
        _refuse(f"step {step.name}: {unknown_name('sharing', share.kind, get_args(Sharing))}")
    if share.output not in step.writes or share.input not in step.reads:
        _refuse(f"step {step.name}: {share.output} shares with {share.input}; expected an output and an input of it")
    output, entry = known[share.output], known[share.input]
    if not _fits(share, output.size, entry.size, ranges):
        _refuse(
            f"step {step.name}: {share.output} ({size_text(output.size)} bytes) and {share.input} "
            f"({size_text(entry.size)} bytes) cannot share as {share.kind} at {size_text(share.offset)}; "
            f"{_EXPECTED[share.kind]}"
        )
    if share.kind != "view":
        return
    if output.place == "outside":
        _refuse(f"step {step.name}: {share.output} is outside the arena and a view; expected one of the two")
    if sum(s.output == share.output for s in step.sharing("view")) > 1:
        _refuse(f"step {step.name}: {share.output} is a view of two inputs; expected one")


def _fits(share: Share, output: Bytes, entry: Bytes, ranges: Bounds) -> bool:
    match share.kind:
        case "view":
            return _inside(output, -share.offset, entry, ranges)
        case "part":
            return _inside(entry, share.offset, output, ranges)
    return not share.offset


def _inside(size: Bytes, start: Bytes, whole: Bytes, ranges: Bounds) -> bool:
    """Whether `size` bytes from `start` lie in the whole, for all sizes."""
    return never_above(0, start, ranges) and never_above(bytes_sum(start, size), whole, ranges)


_EXPECTED = {
    "view": "expected the output's bytes inside the input's",
    "part": "expected the input's bytes inside the output's",
    "overwrite": "expected 0: what is overwritten begins where the output does",
}
