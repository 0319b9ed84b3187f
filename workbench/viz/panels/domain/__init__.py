"""The iteration domain for the front end."""
