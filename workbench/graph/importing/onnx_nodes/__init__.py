"""The nodes of ONNX: one table for each family, from type of node to what writes its definition."""
