"""Repairs: short sequences of steps that may stand in place of a refused one, one idea a file."""
