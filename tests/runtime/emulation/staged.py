"""Schedules for a GPU with tiles in shared memory."""

from __future__ import annotations

import workbench as wb
from workbench.schedules import Schedule


def on_grid(schedule: Schedule, *statements: str) -> Schedule:
    """Tiles of statements over (m, n) on blocks, their elements on threads."""
    for statement in statements:
        for dim, axis in (("m", "y"), ("n", "x")):
            schedule |= wb.bind(f"{statement}/{dim}_o", f"block.{axis}")
            schedule |= wb.bind(f"{statement}/{dim}_i", f"thread.{axis}")
    return schedule


def copied(schedule: Schedule, *statements: str) -> Schedule:
    """The copies of A and B by all threads of a block."""
    for statement in statements:
        y, x = ("m", "k") if statement.startswith("A") else ("k", "n")
        schedule |= wb.bind(f"{statement}/{y}", "thread.y") | wb.bind(f"{statement}/{x}", "thread.x")
    return schedule


def tiled(n: int, tile: int) -> Schedule:
    """A product of n by n matrices in tiles, with tiles of A and B in buffers."""
    s = wb.schedule(wb.ops.matmul, M=n, N=n, K=n) | wb.decompose_reduction("C")
    s |= wb.tile({"C/m": tile, "C/n": tile, "C/k": tile}) | wb.tile({"C.init/m": tile, "C.init/n": tile})
    return s | wb.stage("A", "C/k_o") | wb.stage("B", "C/k_o")


def double_buffered(n: int, tile: int = 16) -> Schedule:
    """Two buffers for each operand, used in turn."""
    s = tiled(n, tile) | wb.double_buffer("A_local") | wb.double_buffer("B_local")
    return copied(on_grid(s, "C.init", "C"), "A_local.load", "B_local.load")


def pipelined(n: int, tile: int = 16) -> Schedule:
    """Asynchronous copies that run an iteration ahead."""
    s = tiled(n, tile) | wb.pipeline("C/k_o", stages=2, async_=True)
    parts = ("A_local.load.prologue", "A_local.load.body", "B_local.load.prologue", "B_local.load.body")
    return copied(on_grid(s, "C.init", "C"), *parts)
