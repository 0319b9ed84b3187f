"""A logarithmic axis: values to pixels, with ticks people can read."""

from __future__ import annotations

from math import ceil, floor, log

from workbench.records import record


@record
class LogScale:
    """Maps values from `low` to `high` to pixels from `start` over `length` (a negative length runs backwards)."""

    low: float
    high: float
    start: float
    length: float

    def at(self, value: float) -> float:
        """The pixel of a value; what lies outside stands at the nearer end."""
        inside = min(max(value, self.low), self.high)
        return self.start + self.length * log(inside / self.low) / log(self.high / self.low)

    def powers(self, base: float) -> list[float]:
        """The powers of a base on the axis."""
        first, last = ceil(log(self.low, base) - 1e-9), floor(log(self.high, base) + 1e-9)
        return [base**n for n in range(first, last + 1)]
