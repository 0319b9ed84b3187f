"""Derivatives inside one expression, and the arithmetic that simplifies them."""
