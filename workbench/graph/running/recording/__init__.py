"""What a piece of a model calls, written down: straight segments, and the list of calls that each makes."""
