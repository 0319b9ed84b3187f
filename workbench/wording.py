"""Counts in words: a number and what is counted, one of it or several."""

from __future__ import annotations


def number_of(count: int, one: str, several: str = "") -> str:
    """A count with the noun in its number; `several` where an s does not make it.

    >>> number_of(1, "parallel loop"), number_of(0, "step"), number_of(1024, "family", "families")
    ('1 parallel loop', '0 steps', '1,024 families')
    """
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"
