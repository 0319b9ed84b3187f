"""Latencies: what a call, a first call, a build and an interactive step cost, each in processes of its own."""
