"""What pytest leaves out: files that import a framework at their top have no doctests to run where it is missing."""

from importlib.util import find_spec

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
