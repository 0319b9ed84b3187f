"""Iteration domains: their points, cells, order, and execution moment by moment."""
