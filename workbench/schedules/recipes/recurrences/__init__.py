"""Recipes for loops that carry values: recurrences, triangles."""
