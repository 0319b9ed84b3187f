"""Regions: sets of calls of a model that one engine computes: which there may be, and which are chosen."""
