"""Repairs: short sequences of steps that may stand in place of a refused one, one idea a file."""

from workbench.schedules.repairs.search import Repairs

__all__ = ["Repairs"]
