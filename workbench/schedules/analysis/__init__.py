"""What programs look like to a machine: strides, reuse, blocks."""
