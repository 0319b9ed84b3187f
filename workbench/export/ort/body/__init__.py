"""An operator's definition as a body of plain ONNX operators."""

from __future__ import annotations
