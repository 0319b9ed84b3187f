"""Time: maps from trees, what runs at once, and loops that execute an order."""
