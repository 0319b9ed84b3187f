"""Rows: blocks whose threads add up, or map, what lies one behind another in memory."""
