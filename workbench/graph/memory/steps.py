"""What a plan is made for: buffers, the steps that write and read them, and what may share bytes."""

from __future__ import annotations

from typing import Literal

from workbench.graph.memory.byte_counts import Bytes
from workbench.records import record

Place = Literal["temporary", "result", "outside"]
Sharing = Literal["view", "part", "overwrite"]


@record(slots=True)
class Buffer:
    """A value of `size` bytes, written once.

    A "temporary" lives until it was read for the last time, a "result" to the end.  What is "outside" (parameters,
    constants, arguments, results for which the caller has memory) is not in the arena.
    """

    name: str
    size: Bytes
    place: Place = "temporary"


@record(slots=True)
class Share:
    """An output of a step and one of its inputs may have bytes in common; legality is the caller's word.

    The input's first byte is `offset` bytes behind the output's.  A "view" always is its input, or a part of it
    (then the offset is not positive), and nothing is written: a reshape, a slice.  A "part" is found unchanged in the
    output, which the step then need not copy: a concatenation.  An output may "overwrite" an input that nobody reads
    any more: an elementwise operator.
    """

    kind: Sharing
    output: str
    input: str
    offset: Bytes = 0


@record(slots=True)
class Step:
    """Reads buffers, then writes others; `after` names steps that come before it for another reason than a buffer."""

    name: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    shares: tuple[Share, ...] = ()
    after: tuple[str, ...] = ()

    def sharing(self, kind: Sharing) -> list[Share]:
        """Its permissions (its duties, for views) of one kind."""
        return [share for share in self.shares if share.kind == kind]
