"""Schedules: what the rungs of the gallery's ladders are worth, and how many orders are said as named steps."""
