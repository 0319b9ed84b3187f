"""This machine: its processor, its costs, its processes."""
