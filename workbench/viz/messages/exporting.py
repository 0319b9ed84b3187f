"""The ways out, and what the one that is chosen would do."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

Takes = Literal["directory", "file", "process"]
Doing = Literal["building", "writing", "registering", "shown"]
ExportFile = Annotated[tuple[str, int, bool], "name, bytes, isText"]
ExportKernel = Annotated[tuple[str, str], "steps, sizes"]


class WayOut(TypedDict):
    """A button; what is missing for it, where something is."""

    name: str
    title: str
    missing: str


class InTheWay(TypedDict):
    """Files of others in a directory."""

    directory: str
    files: list[str]


class Export(TypedDict):
    """What a way out would do, does, or did."""

    title: str
    takes: Takes
    state: Doing
    of: str  # whose schedule it is
    steps: str
    script: str  # Python that makes the schedule
    call: str  # and exports it, with {} for the place
    file: str  # below the directory, where one is named
    usual: str  # directory
    files: list[ExportFile]
    kernels: list[ExportKernel]
    built: list[str]
    notes: list[str]
    signature: str
    error: str
    asks: InTheWay | None
    done: str


class ExportData(TypedDict):
    """The ways, and the job of the one that is chosen."""

    ways: list[WayOut]
    chosen: str
    job: Export | None


class FileText(TypedDict):
    """The text of a file; null for one that is none."""

    text: str | None
