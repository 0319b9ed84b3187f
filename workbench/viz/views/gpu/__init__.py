"""Warps: sectors of global memory, banks of shared memory."""
