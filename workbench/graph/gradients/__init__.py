"""Gradients of models: straight code by adjoints, everything else by cells and backpropagators."""
