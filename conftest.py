"""What pytest leaves out: files that import PyTorch at their top have no doctests to run where it is not installed."""

from importlib.util import find_spec

NEEDS_TORCH = ["workbench/export/pytorch", "workbench/export/stable/companion.py"]
collect_ignore = [] if find_spec("torch") else NEEDS_TORCH
