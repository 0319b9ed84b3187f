"""Rewrites of a nest, in the order of the list in `pipeline`."""
