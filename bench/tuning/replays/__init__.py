"""Spaces recorded point by point, and searches replayed on them."""
