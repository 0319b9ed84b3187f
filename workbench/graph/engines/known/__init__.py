"""Engines that come along."""
