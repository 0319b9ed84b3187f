"""A compiled kernel as a function: its border, its arguments, copies where they are needed."""
