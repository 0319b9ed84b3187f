"""Operators and expressions as text."""
