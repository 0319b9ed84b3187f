"""Results against the oracle, within bounds that follow from the operator."""
