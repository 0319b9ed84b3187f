"""Threads of a GPU: grids of blocks, what crosses threads, what those of a warp access together."""
