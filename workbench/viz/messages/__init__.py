"""What the panel's two sides say to each other, as types: `tools/panel_messages.py` writes them for the front end."""
