"""Bodies: buffers whose places are fixed to each other, because they share bytes.

A buffer that shares nothing is a body of its own.  Members of a body may lie over each other where they are never
alive together, or hold the same, or where one takes over from the other in one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from workbench.graph.memory.byte_counts import (
    Bytes,
    at_sizes,
    bytes_sum,
    difference_of_bytes,
    is_multiple,
    never_above,
)
from workbench.graph.memory.contents import Contents, agree, contents
from workbench.graph.memory.lifetimes import Lifetimes
from workbench.graph.memory.steps import Share, Sharing, Step
from workbench.records import record

Members = Mapping[str, Bytes]


@record
class Body:
    """Buffers, each with the distance in bytes of its first byte from the body's."""

    members: tuple[tuple[str, Bytes], ...]


def bodies(lifetimes: Lifetimes, sharing: Iterable[Sharing] = (), alignment: int = 64) -> tuple[Body, ...]:
    """The bodies where shares of these kinds are taken wherever they are legal, the largest first; views always are.

    A share is taken if it is certain for all sizes that nothing is overwritten too early and every buffer but views
    stays aligned.
    """
    joining, kinds = _Joining(lifetimes, alignment), set(sharing)
    for view in lifetimes.views.values():
        if not lifetimes.is_outside(view.input):
            joining.show(view)
    wanted = [(step, share) for step in lifetimes.steps for share in step.shares if share.kind in kinds - {"view"}]
    wanted.sort(key=lambda one: -_saving(lifetimes, one[1]))
    while any([joining.try_to_join(step, share) for step, share in wanted]):
        pass  # a body that has grown may admit what it did not before
    return tuple(Body(tuple(sorted(members.items()))) for members in joining.bodies())


def _saving(lifetimes: Lifetimes, share: Share) -> int:
    """Bytes that are needed once instead of twice, at the greatest sizes."""
    sizes = {name: high for name, (_, high) in lifetimes.ranges.items()}
    return min(at_sizes(lifetimes.by_name[name].size, sizes) for name in (share.output, share.input))


class _Joining:
    """Bodies that grow; each buffer knows its own."""

    def __init__(self, lifetimes: Lifetimes, alignment: int) -> None:
        self.lifetimes, self.alignment = lifetimes, alignment
        self.contents: Contents = contents(lifetimes)
        sizes = lifetimes.by_name
        self.home: dict[str, dict[str, Bytes]] = {
            name: {name: difference_of_bytes(sizes[name].size, sizes[name].size)} for name in lifetimes.lives
        }

    def bodies(self) -> Iterator[dict[str, Bytes]]:
        """Every body once, in the order in which their first buffers are written."""
        seen: set[int] = set()
        for members in self.home.values():
            if id(members) not in seen:
                seen.add(id(members))
                yield members

    def show(self, view: Share) -> None:
        """Put a view, which is still alone, where its input has it."""
        whole = self.home[view.input]
        whole[view.output] = difference_of_bytes(whole[view.input], view.offset)
        self.home[view.output] = whole

    def try_to_join(self, step: Step, share: Share) -> bool:
        """Make one body of two, so that the input lies at its offset in the output, if that spoils nothing."""
        home = self.home
        if share.input not in home or share.output not in home or home[share.input] is home[share.output]:
            return False
        if share.kind == "overwrite" and not self._dies(step, share):
            return False
        together = self._together(share)
        if together is None or not self._aligned(together) or self._clash(together, share):
            return False
        self.home |= dict.fromkeys(together, together)
        return True

    def _aligned(self, together: Members) -> bool:
        """Whether all members are, apart from views, which are where they are."""
        views = self.lifetimes.views
        return all(is_multiple(inner, self.alignment) for name, inner in together.items() if name not in views)

    def _dies(self, step: Step, share: Share) -> bool:
        """The step reads the input once, by no other name, and nobody reads it later."""
        entry = self.home[share.input]
        reads = [name for name in step.reads if name in entry and self._overlap(entry, name, share.input)]
        lives = self.lifetimes.lives
        return reads == [share.input] and lives[share.input][1] == lives[share.output][0]

    def _together(self, share: Share) -> dict[str, Bytes] | None:
        """Members of both bodies; None if it depends on the sizes which of them begins first."""
        of_input, of_output = self.home[share.input], self.home[share.output]
        shift = difference_of_bytes(difference_of_bytes(of_input[share.input], share.offset), of_output[share.output])
        if self._never_negative(shift):
            return of_input | {name: bytes_sum(inner, shift) for name, inner in of_output.items()}
        if self._never_negative(-shift):
            return of_output | {name: difference_of_bytes(inner, shift) for name, inner in of_input.items()}
        return None

    def _never_negative(self, size: Bytes) -> bool:
        return never_above(0, size, self.lifetimes.ranges)

    def _clash(self, together: Members, share: Share) -> bool:
        """Whether a member of one body would spoil one of the other."""
        return any(
            self._meet(a, b) and self._overlap(together, a, b) and not self._allowed(together, a, b, share)
            for a in self.home[share.input]
            for b in self.home[share.output]
        )

    def _meet(self, a: str, b: str) -> bool:
        (first, last), (start, end) = self.lifetimes.lives[a], self.lifetimes.lives[b]
        return first <= end and start <= last

    def _overlap(self, inner: Members, a: str, b: str) -> bool:
        """Whether two members may have bytes in common."""
        sizes, ranges = self.lifetimes.by_name, self.lifetimes.ranges
        ends = {name: bytes_sum(inner[name], sizes[name].size) for name in (a, b)}
        return not (never_above(ends[a], inner[b], ranges) or never_above(ends[b], inner[a], ranges))

    def _allowed(self, inner: Members, a: str, b: str, share: Share) -> bool:
        """The one takes over from the other, or both hold the same and the later is not written there."""
        if share.kind == "overwrite" and (a, b) == (share.input, share.output):
            return True
        lives = self.lifetimes.lives
        first, later = sorted((a, b), key=lambda name: lives[name])
        same = agree(self.contents[a], self.contents[b], difference_of_bytes(inner[b], inner[a]))
        return same and (later in self.lifetimes.views or self._is_found_there(inner, later, first))

    def _is_found_there(self, inner: Members, whole: str, other: str) -> bool:
        """Whether all parts of a buffer that lie over another one need not be copied."""
        step = self.lifetimes.steps[self.lifetimes.lives[whole][0]]
        return all(
            inner.get(part.input) == bytes_sum(inner[whole], part.offset) or self._is_apart(inner, whole, part, other)
            for part in step.sharing("part")
            if part.output == whole
        )

    def _is_apart(self, inner: Members, whole: str, part: Share, other: str) -> bool:
        sizes, ranges = self.lifetimes.by_name, self.lifetimes.ranges
        start = bytes_sum(inner[whole], part.offset)
        end, other_end = bytes_sum(start, sizes[part.input].size), bytes_sum(inner[other], sizes[other].size)
        return never_above(end, inner[other], ranges) or never_above(other_end, start, ranges)
