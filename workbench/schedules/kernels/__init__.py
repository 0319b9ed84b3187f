"""Micro-kernels and instructions that stand at the bottom of a schedule."""
