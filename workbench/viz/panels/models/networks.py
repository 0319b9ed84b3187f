"""`Network`: a model that a panel shows, as it is folded and coloured now, and what is done with it by mouse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from workbench.errors import WorkbenchError, shown, unknown_name
from workbench.graph.fusion.results import FusionResult
from workbench.graph.memory import MemoryPlan
from workbench.graph.models import Model
from workbench.graph.running.profiling.profiles import Profile
from workbench.schedules import Schedule
from workbench.viz.draw.pictures import Picture
from workbench.viz.messages.modelling import ModelPicture, NetworkData
from workbench.viz.panels.models.operator_of import kernel_of, schedule_of
from workbench.viz.panels.models.pointing import (
    graph_picture,
    legend_payload,
    memory_picture,
    modules_payload,
    time_picture,
)
from workbench.viz.views.models.colouring import by_change, by_kind
from workbench.viz.views.models.folding import default_folds, folded
from workbench.viz.views.models.graph_drawing import graph_scene
from workbench.viz.views.models.graph_view import graph_text, whole_graph, with_times
from workbench.viz.views.models.model_graph import ModelGraph, Path
from workbench.viz.views.models.reading_graph import model_graph

if TYPE_CHECKING:
    from workbench.viz.panels.widget import Panel

Colours = Literal["", "kinds", "changes"]


class Network:
    """A model, fused, divided or built, in a panel.

    `stage` is the place in its trace that is shown, `folds` the modules that are one node each, `profile` the times of
    its nodes, `sizes` numbers for named dimensions.
    """

    def __init__(self, value: Any, profile: Profile | None = None, sizes: Mapping[str, int] | None = None) -> None:
        self.value, self.profile, self.sizes = value, profile, dict(sizes or {})
        self.stages = _stages(value)
        self.stage = len(self.stages) - 1
        self.colours: Colours = "kinds" if len(self.stages) > 1 else ""
        self.opened = ""
        self.whole = self._whole()
        self.folds: frozenset[Path] = default_folds(self.whole)
        self._memory: tuple[ModelPicture | None, str] = (None, "")

    def _whole(self) -> ModelGraph:
        """The graph of the stage, nothing folded."""
        if len(self.stages) > 1:
            words, model, before = self.stages[self.stage]
            changes = self.colours == "changes" and before is not None
            found = by_change(model, before, words) if changes and before is not None else by_kind(model_graph(model))
        else:
            found = whole_graph(self.value)
        return found if self.profile is None else with_times(found, self.profile)

    @property
    def model(self) -> Model:
        """The model of the stage."""
        if isinstance(self.value, FusionResult):
            return self.value.original
        return self.value.model if not isinstance(self.value, Model) else self.stages[self.stage][1]

    @property
    def drawn(self) -> ModelGraph:
        """The graph as it is folded."""
        return folded(self.whole, self.folds)

    def still(self) -> dict[str, Any]:
        """What readers without a kernel see: the picture."""
        return Picture(graph_text(self.drawn), graph_scene(self.drawn))._repr_mimebundle_()

    def payload(self) -> NetworkData:
        """All that the front end draws."""
        drawn = self.drawn
        memory, why = self._memory
        return {
            "title": drawn.title, "facts": list(drawn.facts), "stage": self.stage,
            "stages": [words for words, _, _ in self.stages], "colours": self.colours,
            "graph": graph_picture(drawn), "legend": drawn.colouring.title,
            "meanings": legend_payload(drawn.colouring), "modules": modules_payload(self.whole, drawn),
            "opened": self.opened, "time": None if self.profile is None else time_picture(self.profile, drawn),
            "memory": memory, "why_no_memory": why,
        }  # fmt: skip

    # -- what is done by mouse

    def fold(self, name: str) -> None:
        """Make a module one node, or take it apart; "" folds all outermost ones, "*" opens everything."""
        known = {".".join(path): path for path in self.whole.modules}
        if name == "*":
            self.folds = frozenset()
        elif not name:
            self.folds = frozenset(path for path in self.whole.modules if len(path) == 1 and path[0][:3] != "fn ")
        elif name not in known:
            raise WorkbenchError(unknown_name("module", name, known))
        else:
            self.folds = self._toggled(known[name])

    def _toggled(self, path: Path) -> frozenset[Path]:
        """A module that is opened shows those in it as one node each."""
        if path not in self.folds:
            return frozenset({*(each for each in self.folds if each[: len(path)] != path), path})
        inside = {each for each in self.whole.modules if len(each) == len(path) + 1 and each[: len(path)] == path}
        return frozenset({*self.folds, *inside}) - {path}

    def go(self, stage: str) -> None:
        """Show a stage of the trace, by its number."""
        if not (stage.isdecimal() and int(stage) < len(self.stages)):
            raise WorkbenchError(f"there is no stage {shown(stage)}; there are 0 to {len(self.stages) - 1}")
        self.stage, self.opened = int(stage), ""
        self.whole = self._whole()
        self.folds = default_folds(self.whole)

    def colour(self, by: str) -> None:
        """Colour by kinds of operators, or by what the pass of the stage changed."""
        if by not in ("kinds", "changes"):
            raise WorkbenchError(unknown_name("colouring", by, ["kinds", "changes"]))
        self.colours = "kinds" if by == "kinds" else "changes"
        self.whole = self._whole()

    def look_at_memory(self, _: str = "") -> None:
        """Plan the arena, once it is looked at."""
        from workbench.graph import plan_memory

        try:
            found = plan_memory(self.model, self.sizes)
            assert isinstance(found, MemoryPlan)
            self._memory = memory_picture(found), ""
        except WorkbenchError as reason:
            self._memory = None, str(reason).partition("\n")[0]

    def schedule_at(self, node: str) -> Schedule:
        """The schedule that the operator of a node begins with; of a call in a group that of the whole kernel."""
        known = {each.id: each for each in self.whole.nodes if len(each.calls) == 1}
        if node not in known:
            raise WorkbenchError(f"{shown(node)} calls no operator of its own")
        call, model = known[node].calls[0], self.model
        if isinstance(self.value, FusionResult):
            call, model = kernel_of(call, self.value)
        return schedule_of(call, model, self.sizes)

    def starts(self) -> Iterator[Schedule]:
        """Schedules of calls to begin with, as long as they can be had; not each of them can be drawn."""
        calls = [each.id for each in self.whole.nodes if len(each.calls) == 1]
        for node in calls[:TRIED]:
            with suppress(WorkbenchError):
                yield self.schedule_at(node)

    def act(self, panel: Panel, do: str, what: str = "") -> None:
        """Do what the front end asks; WorkbenchError that lists what there is."""
        if do == "open":
            self.open(panel, what)
        elif do in ACTIONS:
            ACTIONS[do](self, what)
        else:
            raise WorkbenchError(unknown_name("action", do, ["open", *ACTIONS]))
        panel.network = dict(self.payload())


    def open(self, panel: Panel, node: str) -> None:
        """Show the operator of a node in the other panes; where it cannot be drawn all stays as it was."""
        found, before = self.schedule_at(node), panel.history
        panel.history = before.at(0)  # operators stand beside one another
        try:
            panel.schedule = found
        except WorkbenchError:
            panel.history = before
            raise
        self.opened = node
        panel.panes = list(dict.fromkeys([*panel.panes, *OPENED]))


TRIED = 8
OPENED = ("domain", "code", "tree", "steps", "history")
ACTIONS: dict[str, Callable[[Network, str], None]] = {
    "fold": Network.fold, "stage": Network.go, "colours": Network.colour, "memory": Network.look_at_memory,
}  # fmt: skip


def _stages(value: Any) -> list[tuple[str, Model, Model | None]]:
    """Of a model that passes made: the one before, and the one after each pass that changed something."""
    if not isinstance(value, Model):
        return [("", getattr(value, "original", value.model), None)]
    changed = [each for each in value.trace if each.changed]
    return [("before the passes", value.start, None), *((str(a.step), a.after, a.before) for a in changed)]
