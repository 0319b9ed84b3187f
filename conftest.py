"""What pytest leaves out: files that import a framework at their top have no doctests to run where it is missing.

And files in which no doctest stands: to import a thousand modules in each worker, and to look through them, takes long.
"""

from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

NEEDED = {
    "workbench/export/pytorch": ("torch",), "workbench/export/stable/companion.py": ("torch",),
    "workbench/export/xla": ("jax",), "workbench/export/ort": ("onnx", "onnxscript"),
    "workbench/export/engines/gpu_engines.py": ("torch",),
    "workbench/export/engines/torch_engine.py": ("torch",), "tests/export/gpu_session.py": ("torch",),
    "tests/export/gpu_library_session.py": ("torch",), "tests/export/jax/gpu_jax_session.py": ("jax",),
    "tests/export/gpu_onnx_session.py": ("onnx", "onnxruntime"),
    "workbench/export/engines/onnxruntime_engine.py": ("onnx", "onnxruntime"),
    "workbench/graph/importing/onnx_nodes/graphs.py": ("onnx",),
    "workbench/graph/importing/torch_nodes/graphs.py": ("torch",),
}  # fmt: skip
collect_ignore = [place for place, modules in NEEDED.items() if not all(map(find_spec, modules))]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Doctests are looked for where there are some."""
    found = yield
    if file_path.suffix != ".py" or ">>>" in file_path.read_text(encoding="utf-8"):
        return found
    return [each for each in found if not isinstance(each, DoctestModule)]
