"""Studies from the call to the end: campaigns over operators with and without recipes, and beside another tuner."""
