"""Dependences: which values flow where, and whether an order keeps them."""
