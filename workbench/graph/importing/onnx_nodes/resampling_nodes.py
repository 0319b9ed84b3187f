"""Resampling: later."""

from __future__ import annotations

from workbench.graph.importing.onnx_nodes.node import Writer

WRITERS: dict[str, Writer] = {}
