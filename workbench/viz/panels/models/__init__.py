"""A model in a panel: its graph as it is folded, the time of its nodes, its memory, and the operator of each call."""
