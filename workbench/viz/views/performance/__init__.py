"""What kernels take, and why."""
