"""The nest: loops, guards and writes between the time map and text."""
