"""Programs made from programs: buffers, layouts, partial results, padding, recomputation."""
