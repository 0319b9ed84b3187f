"""Calls of operators: what meets arrays, and what is kept from call to call."""
