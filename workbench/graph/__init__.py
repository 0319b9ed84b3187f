"""Models made of operators."""
