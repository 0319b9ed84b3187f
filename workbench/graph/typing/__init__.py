"""Types of models: what operators say of themselves, unification, dimension equations, exhaustiveness."""
