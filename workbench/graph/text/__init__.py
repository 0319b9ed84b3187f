"""The text form of models: read, checked for words, and printed the same."""
