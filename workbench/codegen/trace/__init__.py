"""The trace dialect: every touch of a kernel, in the order of execution."""
