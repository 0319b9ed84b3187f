"""Sets and relations: the one door to isl, and what stands beside it."""
