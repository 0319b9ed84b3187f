"""Reductions whose results stay in registers."""
