"""Places for bodies in an arena: their shapes, best fit, hill climbing, and a solver for few."""
