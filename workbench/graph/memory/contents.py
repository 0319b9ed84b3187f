"""What the bytes of a buffer are: pieces of the buffers that were first to hold them.

Views show bytes of what they look at, concatenations hold those of their parts.  Two buffers may lie over each other
while both are alive where their pieces agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.graph.memory.byte_counts import Bytes, bytes_sum, difference_of_bytes
from workbench.graph.memory.lifetimes import Lifetimes
from workbench.graph.memory.steps import Share
from workbench.records import record


@record(slots=True)
class Piece:
    """`length` bytes that are those of `origin` from `start` on."""

    origin: str
    start: Bytes
    length: Bytes


Contents = Mapping[str, tuple[Piece, ...]]


def contents(lifetimes: Lifetimes) -> Contents:
    """The pieces of every buffer, in order; a buffer of which nothing is known is one piece, itself."""
    found: dict[str, tuple[Piece, ...]] = {}
    for buffer in lifetimes.buffers:
        found[buffer.name] = (Piece(buffer.name, difference_of_bytes(buffer.size, buffer.size), buffer.size),)
    for step in lifetimes.steps:
        for share in step.sharing("view"):
            found[share.output] = _shown(share, lifetimes.by_name[share.output].size, found) or found[share.output]
        for name in step.writes:
            if parts := [share for share in step.sharing("part") if share.output == name]:
                found[name] = tuple(_composed(name, parts, lifetimes, found))
    return found


def _shown(view: Share, size: Bytes, found: Contents) -> tuple[Piece, ...]:
    """The pieces that a view shows; none if it begins or ends within one of several."""
    whole = found[view.input]
    if len(whole) == 1:
        return (Piece(whole[0].origin, difference_of_bytes(whole[0].start, view.offset), size),)
    start, at = -view.offset, difference_of_bytes(size, size)
    chosen: list[Piece] = []
    for piece in whole:
        if chosen or at == start:
            chosen.append(piece)
            if difference_of_bytes(bytes_sum(at, piece.length), start) == size:
                return tuple(chosen)
        at = bytes_sum(at, piece.length)
    return ()


def _composed(name: str, parts: list[Share], lifetimes: Lifetimes, found: Contents) -> Iterator[Piece]:
    """The pieces of parts that follow each other without a gap, then the rest."""
    size = lifetimes.by_name[name].size
    at, waiting = difference_of_bytes(size, size), list(parts)
    while (part := next((p for p in waiting if p.offset == at), None)) is not None:
        waiting.remove(part)
        yield from found[part.input]
        at = bytes_sum(at, lifetimes.by_name[part.input].size)
    if rest := difference_of_bytes(size, at):
        yield Piece(name, at, rest)


def agree(a: tuple[Piece, ...], b: tuple[Piece, ...], shift: Bytes) -> bool:
    """Whether it is certain that two buffers hold the same where they overlap; `b` begins `shift` bytes behind `a`."""
    if shift:
        return _agree_from(a, b, shift) or _agree_from(b, a, -shift)
    return _same_run(a, b)


def _agree_from(a: tuple[Piece, ...], b: tuple[Piece, ...], shift: Bytes) -> bool:
    """`b` begins at a border between two pieces of `a`, or within its only one."""
    if len(a) == len(b) == 1:
        return a[0].origin == b[0].origin and bytes_sum(a[0].start, shift) == b[0].start
    at = difference_of_bytes(shift, shift)
    for number, piece in enumerate(a):
        if at == shift:
            return _same_run(a[number:], b)
        at = bytes_sum(at, piece.length)
    return False


def _same_run(a: tuple[Piece, ...], b: tuple[Piece, ...]) -> bool:
    """The same pieces until one of the two ends."""
    for number, (one, other) in enumerate(zip(a, b, strict=False), 1):
        if (one.origin, one.start) != (other.origin, other.start):
            return False
        if one.length != other.length:
            last = (number == len(a), number == len(b))
            return all(last) or (_shorter(one, other) and last[0]) or (_shorter(other, one) and last[1])
    return True


def _shorter(one: Piece, other: Piece) -> bool:
    return isinstance(one.length, int) and isinstance(other.length, int) and one.length < other.length
