"""The dataflow of a schedule for the front end: its marks, and the statements that can be pointed at."""

from __future__ import annotations

from workbench.errors import WorkbenchError
from workbench.schedules import Schedule
from workbench.viz.frames.coordinates import subject
from workbench.viz.messages.counting import Unknown
from workbench.viz.messages.modelling import ModelPicture, Place
from workbench.viz.panels.models.pointing import picture_payload
from workbench.viz.views.program.dataflow_data import Nest, Step, dataflow_data
from workbench.viz.views.program.dataflow_view import (
    dataflow_scene,
    dataflow_text,
    edge_label,
    statement_boxes,
)


def dataflow_payload(schedule: Schedule) -> ModelPicture | Unknown:
    """Statements in the order they run, with the bytes between them; each place leads into its nest."""
    try:
        found = dataflow_data(subject(schedule))
    except WorkbenchError as error:
        return {"reason": str(error)}
    boxes = statement_boxes(found)
    places = [_place(nest, step, boxes[step.name]) for nest in found.nests for step in nest.steps]
    return {"picture": picture_payload(dataflow_scene(found)), "places": places, "words": dataflow_text(found)}


def _place(nest: Nest, step: Step, box: tuple[float, float, float, float]) -> Place:
    reads = ", ".join(edge_label(edge) for edge in step.reads) or "nothing"
    writes = ", ".join(edge_label(edge) for edge in step.writes)
    around = f"in for {', '.join(nest.loops)}" if nest.loops else "once"
    return {
        "id": step.name, "box": [round(value, 1) for value in box], "words": f"{step.name}({', '.join(step.dims)})",
        "details": [around, f"reads {reads}", f"writes {writes}"], "opens": step.name, "module": "",
    }  # fmt: skip
