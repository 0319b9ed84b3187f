"""A time map found by an optimiser, said as named steps from the naive schedule."""

from workbench.schedules.explanation.explaining import explained

__all__ = ["explained"]
