"""Models: their graphs, and their memory over time."""
