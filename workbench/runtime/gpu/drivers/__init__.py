"""The driver of CUDA through the packages that serve it."""
