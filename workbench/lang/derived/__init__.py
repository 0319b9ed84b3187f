"""Operators made from operators: gradients, tangents, batches.

Each function takes an Operator apart (its resolved statements), writes another program in the same language and
reads that text again: what comes out is an operator like any other.
"""
