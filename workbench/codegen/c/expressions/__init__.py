"""Values and writes as C: scalars, vectors, registers."""
