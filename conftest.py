"""What pytest leaves out: files that import PyTorch at their top have no doctests to run where it is not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["workbench/export/pytorch"]
