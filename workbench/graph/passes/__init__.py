"""Passes over models, one a file, named like it; `wb.passes` finds them there."""
