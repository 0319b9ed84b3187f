"""The ways in: models of PyTorch and ONNX as models of the workbench, their nodes written in the operator language."""
