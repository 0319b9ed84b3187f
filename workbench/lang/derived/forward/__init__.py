"""The forward program: in plain steps, computed again, what of it is kept."""
