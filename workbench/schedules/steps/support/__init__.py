"""What several steps share: statements moved, divided, inserted beside others."""
