"""Steps that change where values are kept."""
