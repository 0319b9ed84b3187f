"""Keeping: trials in a database that nothing is ever lost from."""
