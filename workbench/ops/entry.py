"""What the library stores for an operator: its text, what it computes, and sizes worth trying."""

from __future__ import annotations

from dataclasses import field

from workbench.records import record

Sizes = dict[str, int]


@record
class Entry:
    """An operator of the library before it is parsed.

    `doc` is one sentence and, after a blank line, the formula.  `examples` are sizes (and integer
    scalars) worth trying, the first one typical of practice.  `values` gives the interval from
    which sample data is drawn for inputs where a standard normal number would be meaningless.
    """

    name: str
    doc: str
    text: str
    examples: tuple[Sizes, ...]
    values: dict[str, tuple[float, float]] = field(default_factory=dict)
    family: str = ""


def sizes(**values: int) -> Sizes:
    """Sizes and integer scalars by name."""
    return values
