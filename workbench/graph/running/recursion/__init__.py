"""Recursion that runs: functions of a model as functions of Python, what they compute put off and done many at once."""
