"""What a picture is of: two axes over a small program, at sizes that can be drawn."""
