"""The cells that iterations touch: regions, boxes, extents, and where local arrays keep them."""
