"""C as text and as a tree: sources, macros, regions, types and names."""
