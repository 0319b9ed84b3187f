"""Programs: statements, their instances and accesses, from an operator; the tree that orders them."""
