"""Operators as functions of JAX: what is traced, and the C that XLA calls."""

from __future__ import annotations
