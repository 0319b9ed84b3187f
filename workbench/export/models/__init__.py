"""Built models as what others call: one function over dense arrays, with kernels, arena and weights in one library."""
