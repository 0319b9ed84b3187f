"""Recipes for products: packed operands, convolutions, instructions for short integers."""
