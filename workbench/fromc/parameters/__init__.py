"""What a C function or a nest is given: sizes, numbers, arrays."""
