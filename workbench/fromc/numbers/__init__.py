"""C's numbers and expressions in terms of the language."""
