"""Two texts side by side as plain data: what stands on both sides in one row, what is equal folded away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from workbench.records import record

CONTEXT = 2


@record
class Side:
    """A line with its number, counted from 1."""

    number: int
    text: str


@record
class DiffRow:
    """Lines that stand beside each other; None where a side has none.  `folded` equal lines stand behind a row
    without sides.
    """

    before: Side | None
    after: Side | None
    changed: bool
    folded: int = 0


def diff_rows(before: Sequence[str], after: Sequence[str], *, context: int = CONTEXT) -> tuple[DiffRow, ...]:
    """The rows of a comparison; equal stretches keep `context` lines next to what differs."""
    rows = list(_all_rows(before, after))
    changed = [i for i, row in enumerate(rows) if row.changed]
    near = {j for i in changed for j in range(i - context, i + context + 1)}
    found: list[DiffRow] = []
    for i, row in enumerate(rows):
        if i in near:
            found.append(row)
        elif found and found[-1].folded:
            found[-1] = DiffRow(None, None, False, found[-1].folded + 1)
        else:
            found.append(DiffRow(None, None, False, 1))
    return tuple(found)


def _all_rows(before: Sequence[str], after: Sequence[str]) -> Iterator[DiffRow]:
    matcher = SequenceMatcher(None, [line.strip() for line in before], [line.strip() for line in after], autojunk=False)
    for kind, a0, a1, b0, b1 in matcher.get_opcodes():
        left = (Side(i + 1, before[i]) for i in range(a0, a1))
        right = (Side(i + 1, after[i]) for i in range(b0, b1))
        for one, other in zip_longest(left, right):
            yield DiffRow(one, other, kind != "equal")
