"""The traits of a panel, its lazy views and the questions of the front end: docs/panel.md says them in words."""

from __future__ import annotations

from typing import Any, Protocol, TypedDict

from workbench.viz.messages.counting import Footprints, Machine, Roofline, Unknown, Warps
from workbench.viz.messages.drawn import Chosen, Code, Domain, Past, Selection, Source, Step, Tools, TreeNode
from workbench.viz.messages.exporting import ExportData, FileText
from workbench.viz.messages.measuring import MeasuredData
from workbench.viz.messages.modelling import ModelPicture, NetworkData
from workbench.viz.messages.stepping import (
    Action,
    Checked,
    Costs,
    Film,
    Judged,
    Kept,
    Left,
    LegalityMap,
    Mapped,
    MenuData,
    More,
    Offer,
    Offers,
    Preview,
    Refusal,
    Still,
)  # fmt: skip
from workbench.viz.messages.studying import StudyData, TrialTold


class Nothing(TypedDict):
    """Not there, or not yet."""


class Views(TypedDict, total=False):
    """What a lazy view last answered."""

    footprint: Footprints | Unknown
    roofline: Roofline | Unknown
    warps: Warps | Unknown
    dataflow: ModelPicture | Unknown
    CUDA: Code
    HIP: Code
    assembly: Code
    PTX: Code
    SASS: Code
    texts: dict[str, Code]  # columns that chose something, by what they chose as JSON
    trial: TrialTold


class Arrangement(TypedDict, total=False):
    """How a panel stands on the screen; nothing of the schedule.

    `shares` is what a column or a pane has of the room against its neighbours, `height` the panel's in pixels, where
    somebody chose it; `pair` are the panes that were chosen last for a `talk`, which shows two in large type.
    `texts` are the columns of the code pane, `plain` without the colours of their lines, `long` without wrapping these.
    """

    shares: dict[str, float]
    height: float
    talk: bool
    pair: list[str]
    texts: list[Chosen]
    plain: bool
    long: bool


class Traits(TypedDict):
    """The state that both sides hold."""

    title: str
    panes: list[str]
    domain: Domain
    tables: bytes
    tree: list[TreeNode]
    code: Code
    past: Past
    offers: Offers
    refusal: Refusal
    selection: Selection
    machine: Machine
    views: Views
    source: Source
    study: StudyData | Nothing
    export: ExportData | Nothing
    measured: MeasuredData | Nothing
    network: NetworkData | Nothing
    arrangement: Arrangement


class Questions(Protocol):
    """What may be asked, with what, and what is answered."""

    def apply(self, step: Step) -> None: ...
    def undo(self) -> None: ...
    def redo(self) -> None: ...
    def go(self, place: int) -> None: ...
    def offer(self, kinds: list[str] = ..., seconds: float = ..., part: float = ...) -> More: ...
    def again(self, step: Step) -> Offer | None: ...
    def preview(self, step: Step) -> Preview: ...
    def gpu(self, do: str) -> Mapped | None: ...
    def gesture(self, name: str, given: dict[str, Any]) -> None: ...
    def dismiss(self) -> None: ...
    def menu(self, loop: str = ..., statement: str = ..., part: float = ...) -> MenuData: ...
    def judge(self, name: str, given: dict[str, Any]) -> Judged: ...
    def map(self, kind: str, statement: str, x: str, y: str, only: list[int] = ...) -> LegalityMap: ...
    def costs(self, steps: list[Step]) -> Costs: ...
    def view(self, name: str, given: dict[str, Any] = ...) -> None: ...
    def tools(self) -> Tools: ...
    def keep(self) -> Kept: ...
    def still(self) -> Still: ...
    def restore(self, text: str) -> None: ...
    def check(self, text: str) -> Checked: ...
    def rewrite(self, text: str) -> Left: ...
    def film(self, kind: str) -> Film: ...
    def export(
        self, do: str, way: str = ..., file: str = ..., directory: str = ..., over: list[str] = ...
    ) -> FileText | None: ...  # fmt: skip
    def measure(self, do: str) -> None: ...
    def study(self, do: Action) -> None: ...
    def trial(self, number: int) -> None: ...
    def network(self, do: str, what: str = ...) -> None: ...
