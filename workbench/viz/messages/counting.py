"""What is counted of a schedule: bytes of loops, the way below a roofline, accesses of warps; and for which machine."""

from __future__ import annotations

from typing import TypedDict

from workbench.viz.messages.stepping import LoopTraffic


class Machine(TypedDict):
    """What can be changed of the machine."""

    vector_bits: int
    cache_bytes: list[int]
    line_bytes: int


class Unknown(TypedDict):
    """Why nothing is counted."""

    reason: str


class Held(TypedDict):
    """What an iteration holds of an array, and what all move."""

    name: str
    held: int
    moved: int
    reuse: float


class LoopRow(TypedDict):
    """A loop, or first everything."""

    loop: str
    kind: str
    depth: int
    parent: int
    held: int
    moved: int
    iterations: int  # 0 of an estimate
    statements: list[int]
    arrays: list[Held]


class Footprints(TypedDict):
    """What loops hold and move."""

    note: str
    exact: bool
    flops: int
    touches: list[int]
    rows: list[LoopRow]


class Spent(TypedDict):
    """A schedule on the way to this one."""

    name: str
    place: int  # in the history
    flops: int
    touches: list[int]
    nodes: list[LoopTraffic]


class Ceilings(TypedDict):
    """What the machine does in a second at most."""

    flops: float
    bytes: dict[str, float]  # of a memory
    origin: str


class Roofline(TypedDict):
    """The way below the ceilings, where these were measured."""

    note: str
    points: list[Spent]
    ceilings: Ceilings | None


class WarpTouch(TypedDict):
    """What an access is to a warp, of its costliest request."""

    statement: str
    array: str
    kind: str
    memory: str  # global or shared
    text: str
    bytes: int
    requests: int
    average: float
    worst: int
    efficiency: float
    complete: bool
    lanes: list[int | None]


class Warps(TypedDict):
    """Accesses of warps."""

    note: str
    accesses: list[WarpTouch]
