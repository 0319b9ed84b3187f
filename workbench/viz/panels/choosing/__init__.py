"""What may be done at a loop or a statement, ranked by what it is expected to gain."""
