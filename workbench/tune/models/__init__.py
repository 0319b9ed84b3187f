"""Cost models: what a schedule will take, from its loops alone or learned from trials."""
