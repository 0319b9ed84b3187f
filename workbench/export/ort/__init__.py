"""The parts of an export to ONNX Runtime: the library of a custom operator, and its models."""

from __future__ import annotations
