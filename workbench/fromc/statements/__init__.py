"""Statements and loops of C as steps of an operator."""
