"""Spaces recorded point by point, and searches replayed on them; and studies beside other tuners."""
