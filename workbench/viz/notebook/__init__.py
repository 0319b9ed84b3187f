"""What a notebook shows of values, and its cells of operators."""
