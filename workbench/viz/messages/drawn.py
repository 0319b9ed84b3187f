"""What is drawn of a schedule: its instances and dependences, its loops, its text, the way to it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

# A table of the trait `tables`, in elements.
Table = Annotated[tuple[int, int, int], "offset, rows, columns"]
# A piece of a line with the role that gives it its colour.
Run = Annotated[tuple[str, str, bool], "text, role, bold"]
Step = Annotated[dict[str, Any], "a step as JSON, which the front end hands back and does not read"]
Kind = Literal["flow", "anti", "output", "reduction"]


class Access(TypedDict):
    """An access of a statement; its cells are missing where data decide them."""

    array: str
    kind: Literal["read", "write"]
    cells: NotRequired[Table]


class Instances(TypedDict):
    """The instances of a statement, one a row of its tables."""

    dims: list[str]
    does: str
    loops: list[str]
    numbers: list[int]  # of the loops: one around several statements has the same number for all of them
    kinds: list[str]
    counts: list[str]  # what the axis of a loop is called that counts something else than the dim of its name
    plain: list[bool]
    tiled: int  # so many of the outer loops make a tile
    points: Table
    times: Table
    when: Table
    accesses: list[Access]


class Statement(Instances):
    """A statement with its instances."""

    name: str
    number: int  # fixes its colour and mark, through all steps
    cost: float  # operations and touches of all its instances


class Nest(TypedDict):
    """Statements that are drawn together, by their places in the program."""

    statements: list[int]
    x: str
    y: str
    axes: list[str]
    counts: dict[str, str]  # such an axis → its loop


class Arrows(TypedDict):
    """Dependences of one kind, as rows of the one statement and of the other."""

    kind: Kind
    array: str
    source: int
    target: int
    pairs: Table


class Scale(TypedDict):
    """What is drawn of the tensors against what is meant, at most 1: their bytes, and the longest row of elements."""

    data: float
    row: float


class Domain(TypedDict):
    """The instances of a schedule at small sizes."""

    scale: Scale
    arrays: dict[str, int]  # bytes of an element
    marks: dict[str, int]  # the numbers that fix the colours and marks of arrays
    notes: list[str]
    sizes: dict[str, int]
    statements: list[Statement]
    nests: list[Nest]
    arrows: list[Arrows]


class TreeNode(TypedDict):
    """A node of the schedule; its id is the way to it."""

    id: str
    type: Literal["loop", "statement", "mark"]
    name: str
    detail: str
    statements: list[str]
    children: list[TreeNode]
    kind: NotRequired[str]
    step: NotRequired[str]  # what steps call a loop
    once: NotRequired[bool]  # a loop of one iteration wherever it stands
    number: NotRequired[int]  # of a statement: fixes its colour and mark


class Line(TypedDict):
    """A line of a text, counted from 1, with what it belongs to."""

    number: int
    of: NotRequired[int]  # the line of the text that this one was made from
    runs: list[Run]
    statements: list[str]
    loop: str


class Repair(TypedDict):
    """A step that may be taken instead."""

    text: str
    step: Step


class Code(TypedDict):
    """A text of the schedule; the reason where there is none, and steps after which there might be one."""

    lines: list[Line]
    start: int
    notes: list[str]
    language: str
    reason: str
    instead: NotRequired[list[Repair]]


class Moment(TypedDict):
    """A schedule of the history, by its last step."""

    text: str
    parent: int | None
    depth: int


class Remark(TypedDict):
    """What is worth knowing of a legal step, or an empty text; `warns`: whether one should think before taking it."""

    text: str
    warns: bool


class Past(TypedDict):
    """The history, and where in it the schedule is; `remarks` has one for each step, most of them empty."""

    script: str
    steps: list[str]
    remarks: list[Remark]
    place: int
    undo: bool
    redo: bool
    moments: list[Moment]


class Source(TypedDict):
    """The operator's text."""

    text: str
    editable: bool


class Selection(TypedDict, total=False):
    """What is lit."""

    statement: str
    instance: list[int]
    loop: str
    line: int
    array: str
    cell: list[int]


class Chosen(TypedDict, total=False):
    """What a column of the code pane shows; what is missing is as everywhere in the panel."""

    language: str
    compiler: str
    flags: str
    target: str


class Tools(TypedDict):
    """What such a column may choose from: compilers by name, machines C and CUDA are written for, whether llvm-mca."""

    compilers: list[str]
    cpus: list[str]
    gpus: list[str]
    mca: bool
