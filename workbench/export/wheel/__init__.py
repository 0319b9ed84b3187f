"""The parts of a Python package with exported operators: its front, its tests, what is said of it."""

from __future__ import annotations
