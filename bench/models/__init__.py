"""Whole models: networks beside those who run them too, and each part of the way that a model goes."""
