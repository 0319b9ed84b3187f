"""The C dialect: files, functions, loops."""
