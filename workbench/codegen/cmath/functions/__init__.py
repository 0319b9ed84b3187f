"""The language's functions, one family a file."""
