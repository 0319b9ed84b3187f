"""What this machine takes for what recipes weigh, measured."""
