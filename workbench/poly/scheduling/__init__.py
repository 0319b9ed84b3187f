"""isl's scheduler: an order found by optimisation."""
