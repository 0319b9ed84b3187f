"""What is said of a model: its graph as marks to be drawn, what can be pointed at, its stages, modules and colours."""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class Picture(TypedDict):
    """A drawing: marks in pixels, as `workbench.viz.panels.models.marks` writes them."""

    width: float
    height: float
    marks: list[list[Any]]
    stretch: list[float] | None  # from where to where the axis reaches that a zoom stretches


class Place(TypedDict):
    """What can be pointed at: a node, a cut, a bar, a buffer."""

    id: str
    box: list[float]  # left, top, width, height
    words: str
    details: list[str]
    opens: str  # the id of the node whose operator a click shows, or nothing
    module: str  # the module that it stands in, or that it is


class Module(TypedDict):
    """A module, function or branch that folds."""

    name: str
    depth: int
    count: int
    folded: bool


class Colour(TypedDict):
    """What a colour and a shape mean."""

    role: str
    shape: str
    words: str


class ModelPicture(TypedDict):
    """A picture with what can be pointed at in it."""

    picture: Picture
    places: list[Place]
    words: str  # the same in words


class NetworkData(TypedDict):
    """A model in a panel."""

    title: str
    facts: list[str]
    stage: int
    stages: list[str]
    colours: Literal["", "kinds", "changes"]  # what is chosen, where there is a choice
    graph: ModelPicture
    legend: str
    meanings: list[Colour]
    modules: list[Module]
    opened: str  # the node whose operator the other panes show, or nothing
    time: ModelPicture | None
    memory: ModelPicture | None
    why_no_memory: str
