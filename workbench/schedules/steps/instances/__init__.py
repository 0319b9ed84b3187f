"""Steps that change which instances there are, and where they are computed."""
