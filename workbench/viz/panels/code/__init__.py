"""Generated code for the front end, line by line."""
