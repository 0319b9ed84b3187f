"""Measurements: this project against its peers, and what a call, a build and an interactive step cost.

`python -m bench` runs the suite and the latencies; what else is measured has a room of its own, whose modules are
commands.  `docs/benchmarks.md` says how to read the result.
"""
