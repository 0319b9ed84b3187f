"""Candidate schedules for the cases that the default recipe does not win: decisions of the recipe by name.  Data only.

The most promising first: a run that is cut short has measured those.
"""

from __future__ import annotations

from typing import Any

Decisions = dict[str, Any]


def tiles(of: str, m: str, n: str, rows: int, columns: int, down: int, across: int, **more: Any) -> Decisions:
    """A product in loops: the tile of a block, the cells of a thread."""
    named = {f"{of}_{name}": value for name, value in more.items()}
    return {f"{of}_way": "tiles", f"{of}_tile_{m}": rows, f"{of}_tile_{n}": columns, f"{of}_cells_{m}": down,
            f"{of}_cells_{n}": across, **named}  # fmt: skip


def fragments(rows: int, columns: int, warps: int, depth: int, stages: int, **more: Any) -> Decisions:
    """A product C on tensor cores."""
    named = {f"C_{name}": value for name, value in more.items()}
    return {"C_way": "tensor cores", "C_tile_m": rows, "C_tile_n": columns, "C_warps": warps, "C_depth": depth,
            "C_stages": stages, **named}  # fmt: skip


PEER = "torch"

VARIANTS: dict[str, dict[str, Decisions]] = {
    "tbmm 500x26x72x26": {
        "32x32, 2x2 a thread, depth 64": tiles("Z", "m", "n", 32, 32, 2, 2, depth=64, stages=1),
        "32x32, 2x4 a thread, depth 64": tiles("Z", "m", "n", 32, 32, 2, 4, depth=64, stages=1),
        "32x32, 2x4 a thread": tiles("Z", "m", "n", 32, 32, 2, 4),
    },
    "matmul bf16 4096": {
        "256x128, 8 warps, 64 deep, 3 places": fragments(256, 128, 8, 64, 3),
        "128x128, 4 warps, 64 deep, 3 places": fragments(128, 128, 4, 64, 3),
        "128x128, 4 warps, 32 deep, 4 places": fragments(128, 128, 4, 32, 4),
        "128x256, 8 warps, 64 deep, 3 places": fragments(128, 256, 8, 64, 3),
    },
}  # fmt: skip
