"""Steps that change the order of instances."""
