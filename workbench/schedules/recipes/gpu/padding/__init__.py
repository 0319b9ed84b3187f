"""Rows of shared memory with places that hold nothing, where that keeps lanes out of one another's banks."""
