"""Drawings as plain data, and what draws them: SVG, PNG, Matplotlib, HTML."""
