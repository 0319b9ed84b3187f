"""From the order of a grid to kernels: launches, barriers, threads."""
