"""Measurements: this project against its peers, and what a call, a build and an interactive step cost.

`python -m bench` runs everything; `docs/benchmarks.md` says how to read the result.
"""
