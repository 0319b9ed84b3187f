"""Operators as short programs over whole arrays: strided views, elementwise functions, contractions."""
