"""Sketches: schedules with decisions left open, and the spaces that these span."""
