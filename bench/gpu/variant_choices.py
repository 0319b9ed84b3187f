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

TMM, MLP = ("C", "m", "n"), ("O", "b", "n")

VARIANTS: dict[str, dict[str, Decisions]] = {
    "matmul bf16 4096": {
        "256x128, 8 warps, 64 deep, 3 places": fragments(256, 128, 8, 64, 3),
        "128x128, 4 warps, 64 deep, 3 places": fragments(128, 128, 4, 64, 3),
        "256x128, 8 warps, 32 deep, 4 places (before)": fragments(256, 128, 8, 32, 4),
        "128x128, 4 warps, 32 deep, 4 places": fragments(128, 128, 4, 32, 4),
        "128x128, 8 warps, 32 deep, 4 places": fragments(128, 128, 8, 32, 4),
        "128x256, 8 warps, 64 deep, 3 places": fragments(128, 256, 8, 64, 3),
    },
    "matmul fp32 4096": {
        "8x8 a thread, written out": tiles(*TMM, 128, 128, 8, 8, unrolled=True),
        "8x16 a thread": tiles(*TMM, 128, 128, 8, 16),
        "8x16 a thread, written out": tiles(*TMM, 128, 128, 8, 16, unrolled=True),
        "128x256, 8x16 a thread": tiles(*TMM, 128, 256, 8, 16),
        "8x8 a thread, 8 deep, 4 places, written out": tiles(*TMM, 128, 128, 8, 8, depth=8, stages=4, unrolled=True),
        "8x8 a thread, 32 deep, 2 places": tiles(*TMM, 128, 128, 8, 8, depth=32, stages=2),
        "256x128, 16x8 a thread": tiles(*TMM, 256, 128, 16, 8),
    },
    "softmax 32768x2048": {
        "512 threads": {"top_init_threads": 512}, "128 threads": {"top_init_threads": 128},
        "1024 threads": {"top_init_threads": 1024}, "through memory (before)": {"top_init_kept": False},
    },
    "tbmm 500x26x72x26": {
        "26x26, 1x2 a thread": tiles("Z", "m", "n", 26, 26, 1, 2),
        "26x26, 2x2 a thread, copied at once": tiles("Z", "m", "n", 26, 26, 2, 2, depth=128, stages=1),
        "26x26, 2x2 a thread, 2 pieces": tiles("Z", "m", "n", 26, 26, 2, 2, depth=64, stages=2),
        "26x26, 1x1 a thread": tiles("Z", "m", "n", 26, 26, 1, 1),
        "26x26, 2x2 a thread, operands in place": tiles("Z", "m", "n", 26, 26, 2, 2, in_registers=False),
        "loops": {"Z_way": "loops"},
        "64x64 (before)": tiles("Z", "m", "n", 64, 64, 8, 4, depth=16),
    },
    "tmm 128x1024x1024": {
        "64x64, 8 splits": tiles(*TMM, 64, 64, 4, 4, splits=8),
        "64x64, 8x4 a thread, 8 splits": tiles(*TMM, 64, 64, 8, 4, splits=8),
        "32x64, 8 splits": tiles(*TMM, 32, 64, 4, 4, splits=8),
        "32x32, 4 splits": tiles(*TMM, 32, 32, 4, 4, splits=4),
        "64x64, 16 splits, written out": tiles(*TMM, 64, 64, 4, 4, splits=16, unrolled=True),
        "64x64, 8 splits, 32 deep": tiles(*TMM, 64, 64, 4, 4, splits=8, depth=32),
        "32x32, no splits": tiles(*TMM, 32, 32, 4, 4, splits=1),
        "16x16, no splits (before)": tiles(*TMM, 16, 16, 2, 2, splits=1),
    },
    "tmm 128x16384x4096": {
        "128x128, 4 splits": tiles(*TMM, 128, 128, 8, 8, splits=4),
        "64x128, 4 splits": tiles(*TMM, 64, 128, 8, 8, splits=4),
        "128x128, 8x16 a thread, 4 splits": tiles(*TMM, 128, 128, 8, 16, splits=4),
        "128x128, 4 splits, written out": tiles(*TMM, 128, 128, 8, 8, splits=4, unrolled=True),
        "128x128, 4 splits, not ahead": tiles(*TMM, 128, 128, 8, 8, splits=4, stages=1),
        "64x64, no splits": tiles(*TMM, 64, 64, 4, 4, splits=1),
        "64x128, no splits (before)": tiles(*TMM, 64, 128, 8, 8, splits=1),
    },
    "group conv 32x(16 to 16) 14x14": {
        "16x12, 4x2 a thread": tiles("O", "f", "x", 16, 12, 4, 2),
        "16x12, 2x4 a thread": tiles("O", "f", "x", 16, 12, 2, 4),
        "16x12, 36 deep": tiles("O", "f", "x", 16, 12, 2, 2, depth=32),
        "16x12, 2x2 a thread, written out": tiles("O", "f", "x", 16, 12, 2, 2, unrolled=True),
        "16x12, 1x2 a thread": tiles("O", "f", "x", 16, 12, 1, 2),
        "loops": {"O_way": "loops"},
        "32x32 (before)": tiles("O", "f", "x", 32, 32, 4, 4, depth=16),
    },
    "MLP1 128x2000 to 128": {
        "32x64, 8 splits": tiles(*MLP, 32, 64, 4, 4, splits=8),
        "32x32, 16 splits": tiles(*MLP, 32, 32, 4, 4, splits=16),
        "32x32, 8 splits": tiles(*MLP, 32, 32, 4, 4, splits=8),
        "32x64, 16 splits, written out": tiles(*MLP, 32, 64, 4, 4, splits=16, unrolled=True),
        "16x32, 8 splits": tiles(*MLP, 16, 32, 2, 4, splits=8),
        "32x32, no splits (before)": tiles(*MLP, 32, 32, 4, 4, splits=1),
    },
    "layer norm 32768x2048": {
        "512 threads": {"total_init_threads": 512}, "through memory (before)": {"total_init_kept": False},
    },
    "moments 1024x36864": {
        "512 threads": {"mean_init_threads": 512}, "1024 threads": {"mean_init_threads": 1024},
    },
    "group norm 32x512x48x48": {
        "512 threads": {"total_init_threads": 512}, "1024 threads": {"total_init_threads": 1024},
    },
}  # fmt: skip
