"""Recipes for GPUs."""
