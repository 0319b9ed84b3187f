"""What pytest leaves out: files that import a framework at their top have no doctests where it is not installed."""

from importlib.util import find_spec

FOLDERS = {"torch": "workbench/export/pytorch", "jax": "workbench/export/xla"}

collect_ignore = [folder for framework, folder in FOLDERS.items() if not find_spec(framework)]
