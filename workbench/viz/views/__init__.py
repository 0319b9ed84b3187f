"""Views: a value as a picture, one kind of question a folder."""
