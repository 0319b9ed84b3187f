"""What a call gives: arrays, their element types, and the sizes that follow from their shapes."""
