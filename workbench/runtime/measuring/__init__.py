"""Times, roofs, and the machine code of kernels."""
