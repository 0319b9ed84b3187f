"""The operators, one family a file."""
