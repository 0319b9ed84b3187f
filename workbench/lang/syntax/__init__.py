"""From text to syntax: the grammar, its parser, and what is said where a text does not follow it."""
