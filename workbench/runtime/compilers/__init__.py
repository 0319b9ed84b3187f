"""Compilers: found, probed, run, and what they made kept."""
