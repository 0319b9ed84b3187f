"""Integer arithmetic of sizes and indices: polynomials, normal forms, quotients, what follows from facts."""
