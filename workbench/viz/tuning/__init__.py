"""Views of tuning: a study as charts."""
