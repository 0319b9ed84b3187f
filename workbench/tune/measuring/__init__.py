"""Measuring candidates: built in processes of their own, checked, and timed in another one."""
