"""A panel as a file or a link."""
