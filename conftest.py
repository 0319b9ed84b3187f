"""What pytest leaves out: files that import a framework at their top have no doctests where it is not installed."""

from importlib.util import find_spec

FOLDERS = {
    "workbench/export/pytorch": "torch",
    "workbench/export/stable/companion.py": "torch",
    "workbench/export/xla": "jax",
}

collect_ignore = [folder for folder, framework in FOLDERS.items() if not find_spec(framework)]
