"""The CUDA dialect: files, kernels, warps."""
