"""Fusion: groups of calls become one operator each, by Relay's rules or by what their programs say."""
