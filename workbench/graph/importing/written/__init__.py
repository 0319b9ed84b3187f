"""Definitions of what both frameworks have: functions of values and attributes that write an operator for them."""
