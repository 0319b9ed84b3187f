"""Engines of other packages: regions of models in PyTorch and in ONNX Runtime."""
