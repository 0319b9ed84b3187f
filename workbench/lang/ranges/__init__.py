"""Range inference: which values indices take, and which cells statements write."""
