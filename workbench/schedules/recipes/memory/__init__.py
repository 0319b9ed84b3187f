"""Recipes for memory: prefetching, buffers, sums along rows and columns of large arrays."""
