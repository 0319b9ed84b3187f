"""Where the time of a built model goes: its nodes, and the pieces that Python calls where it has control flow."""

from __future__ import annotations
