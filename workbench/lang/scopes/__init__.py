"""What names mean while an operator is resolved."""
