"""Exact counts: instances, cells, bytes, one by one or in closed form."""
