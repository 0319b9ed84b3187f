"""What is said of steps: those that may come next, one that was refused, one that is looked at, maps of many."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from workbench.viz.messages.drawn import Domain, Kind, Remark, Repair, Step, TreeNode

# What is held and moved in one of a schedule's loops; the first node is everything.
LoopTraffic = Annotated[tuple[int, int, int, list[int]], "parent, held, moved, statements"]
# The traffic of a schedule: its nodes, and the bytes of each statement whose instances keep nothing.
Cost = Annotated[tuple[list[LoopTraffic], list[int]], "nodes, touches"]


class Offer(TypedDict):
    """A step that may come next, or may not, or of which that is not known: the question took too long."""

    text: str
    kind: str
    step: Step
    legal: bool
    known: bool
    reason: str


class Offers(TypedDict, total=False):
    """The next steps, kinds not all looked at (`left`), and loops too short for any block; empty until asked for."""

    steps: list[Offer]
    complete: bool
    left: list[str]
    short: list[str]


class Wrong(TypedDict):
    """A dependence that a refused step violates, with pairs of its instances; `data`: under which data it is one."""

    source: str
    target: str
    reason: Literal["order", "race"]
    loop: str
    kind: Kind
    array: str
    pairs: list[tuple[list[int], list[int]]]
    words: tuple[str, str]
    data: str


class Refusal(TypedDict, total=False):
    """Why a step was not taken, and what may stand in its place, or why nothing; empty when none was refused."""

    step: str
    reason: str
    repairs: list[Repair]
    without: str
    pairs: list[Wrong]


class Preview(TypedDict):
    """What a step would make of everything; its tables are in base64."""

    lines: list[str]
    verdict: str
    domain: Domain
    tables: str
    tree: list[TreeNode]


class Mapped(TypedDict):
    """What the default mapping to a GPU would make of everything, in so many steps; `note`: what one thread must do."""

    text: str
    count: int
    note: str
    preview: Preview


class Judged(TypedDict):
    """The step of a gesture that is not finished."""

    text: str
    legal: bool


class Choice(TypedDict):
    """A step of a menu; `gain` is how many times faster by the model, `why` in words (bytes, lanes, threads), which
    `warns` or not.
    """

    text: str
    kind: str
    step: Step
    legal: bool
    reason: str
    gain: float
    why: list[str]
    warns: bool


class BlockSizes(TypedDict):
    """A loop around what a menu is of, and sizes of blocks that fit, each with why."""

    loop: str
    iterations: int
    sizes: list[tuple[int, str]]


class MenuData(TypedDict):
    """What may be done at a loop or a statement, as far as it was looked at; `unmodelled` says why no gain is known,
    `complete` whether every step was looked at.
    """

    steps: list[Choice]
    blocks: list[BlockSizes]
    more: bool
    complete: bool
    unmodelled: str


class Spot(TypedDict):
    """A cell of a map: a step, or the schedule as it is."""

    text: str
    step: NotRequired[Step]
    legal: bool
    reason: str
    nodes: list[LoopTraffic]


class LegalityMap(TypedDict):
    """Steps of one kind in rows and columns, and those of them that were judged so far, by their places."""

    title: str
    rows: list[str]
    columns: list[str]
    down: str
    across: str
    cells: dict[str, Spot]
    note: str
    touches: list[int]


class Costs(TypedDict):
    """The traffic now, and after some steps, with what else is worth knowing of each of them."""

    now: Cost
    after: list[Cost]
    remarks: list[Remark]
    note: str


class More(TypedDict):
    """Whether there is more to be looked at."""

    more: bool


class Left(TypedDict):
    """What another operator's text made impossible, in words."""

    left: str


class Still(TypedDict):
    """The picture that readers without a kernel see, by MIME type: words, and a PNG in base64."""

    data: dict[str, str]


class Kept(TypedDict):
    """A panel as a file and as a link: schedule, way, panes, what is lit."""

    name: str
    text: str
    link: str


class Problem(TypedDict):
    """What is wrong at a token, counted from 1."""

    line: int
    column: int
    length: int
    message: str
    fix: str


class Name(TypedDict):
    """A name that completes what is typed."""

    label: str
    kind: str


class Checked(TypedDict):
    """What is said of an operator's text."""

    problems: list[Problem]
    names: list[Name]


class Film(TypedDict):
    """A file, in base64."""

    name: str
    type: str
    data: str


Action = Literal["pause", "resume", "stop"]
