"""What a model computes: a plain interpreter on the oracles of its operators."""
