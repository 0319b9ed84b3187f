"""What pytest leaves out: files that import a framework at their top have no doctests to run where it is missing."""

from importlib.util import find_spec

collect_ignore = [
    *([] if find_spec("torch") else ["workbench/export/pytorch"]),
    *([] if find_spec("onnx") and find_spec("onnxscript") else ["workbench/export/ort"]),
]
