"""Recipes for loops: fusion, tiles in space and time, threads, lanes."""
