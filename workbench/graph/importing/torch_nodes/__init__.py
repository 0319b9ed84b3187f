"""The operations of PyTorch (core ATen): one table for each family, from name to what writes its definition."""
