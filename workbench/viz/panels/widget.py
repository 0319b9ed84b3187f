"""The panel as an anywidget: traits that say everything needed to draw it, messages for questions."""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench.errors import IllegalSchedule, ScheduleError, WorkbenchError, shown
from workbench.lang.operator import Operator
from workbench.poly.program import Program
from workbench.schedules import Schedule, preview
from workbench.schedules import schedule as scheduled
from workbench.schedules.transform import Transform
from workbench.viz.display import picture
from workbench.viz.frame import Asked
from workbench.viz.palette import variables
from workbench.viz.panels.gestures import step_for
from workbench.viz.panels.history import History, Moment, history_payload
from workbench.viz.panels.listing import code_payload
from workbench.viz.panels.numbers import Packed
from workbench.viz.panels.offering import offers_payload, refusal_payload, step_of
from workbench.viz.panels.outline import tree_payload
from workbench.viz.panels.points import domain_payload
from workbench.viz.panels.selecting import checked_selection

STATIC = Path(__file__).parent / "static"
PANES = ("domain", "code", "tree", "steps", "history")
STORED = "application/vnd.tensor-workbench.panel+json"  # by this JupyterLab's extension finds panels among outputs


class Panel(anywidget.AnyWidget):
    """A schedule with its domain, tree, code and history side by side; what is done by mouse is a step of the trace.

    `schedule` is what is shown, `history` every way taken so far, `selection` what is lit (a dict: see
    `checked_selection`); `apply`, `undo` and `redo` do what the buttons do.  Traits carry what is drawn, so that a
    page that is opened again needs no kernel to draw it; docs/panel.md has their schema.
    """

    _esm = STATIC / "panel.js"
    _css = variables("auto") + (STATIC / "panel.css").read_text(encoding="utf-8")

    title = traitlets.Unicode().tag(sync=True)
    panes = traitlets.List(traitlets.Unicode()).tag(sync=True)
    domain = traitlets.Dict().tag(sync=True)
    tables = traitlets.Bytes().tag(sync=True)
    tree = traitlets.List().tag(sync=True)
    code = traitlets.Dict().tag(sync=True)
    past = traitlets.Dict().tag(sync=True)
    offers = traitlets.Dict().tag(sync=True)
    refusal = traitlets.Dict().tag(sync=True)
    selection = traitlets.Dict().tag(sync=True)

    def __init__(self, start: Schedule, panes: tuple[str, ...] = PANES, sizes: Mapping[str, int] | None = None) -> None:
        # Messages may arrive on a thread of their own while a cell runs: one lock for all that they touch.
        self._lock = threading.RLock()
        self._asked = Asked(sizes=sizes)
        self.history = History((Moment(start),))
        super().__init__(title=start.program.name, panes=list(panes), **self._drawn())
        self.on_msg(self._answer)

    # -- what Python sees ----------------------------------------------------------------------------------------------

    @property
    def schedule(self) -> Schedule:
        """The schedule that is shown."""
        return self.history.schedule

    @schedule.setter
    def schedule(self, value: Schedule) -> None:
        if not isinstance(value, Schedule):
            raise ScheduleError(f"a panel shows a Schedule, as wb.schedule(op) makes it, not {shown(value)}")
        self._go(self.history.then(value))

    def apply(self, step: Transform) -> None:
        """Take a step; one that is refused is shown with its reason and raises IllegalSchedule (or ScheduleError)."""
        with self._lock:
            try:
                self._go(self.history.then(self.schedule | step))
            except (IllegalSchedule, ScheduleError) as error:
                self.refusal = refusal_payload(self.schedule, step, error, self._asked)
                raise

    def undo(self) -> None:
        """Go back one step; ScheduleError at the first schedule."""
        self._go(self.history.undo())

    def redo(self) -> None:
        """Go forward again; ScheduleError where nothing was undone."""
        self._go(self.history.redo())

    def _go(self, history: History) -> None:
        with self._lock:
            self.history = history
            self._draw()

    def _draw(self) -> None:
        """Every trait anew, sent as one message; a selection that has no meaning any more is dropped."""
        with self.hold_sync():
            for name, value in self._drawn().items():
                setattr(self, name, value)
            self.refusal, self.offers = {}, {}
            try:
                self.selection = dict(self.selection)
            except WorkbenchError:
                self.selection = {}

    def _drawn(self) -> dict[str, Any]:
        packed = Packed()
        schedule = self.schedule
        return {
            "domain": domain_payload(schedule, self._asked, packed),
            "tables": packed.data,
            "tree": tree_payload(schedule.program, schedule.tree),
            "code": code_payload(schedule),
            "past": history_payload(self.history),
        }

    @traitlets.validate("selection")
    def _valid_selection(self, proposal: Any) -> dict[str, Any]:
        now = self.schedule
        return checked_selection(proposal["value"], now.program, now.tree, len(self.code.get("lines", ())))

    # -- messages ------------------------------------------------------------------------------------------------------

    def _answer(self, _: Any, message: Any, __: Any) -> None:
        """Questions of the front end, `{"ask": number, "name": ..., "with": {...}}`; the answer bears the number."""
        if not isinstance(message, dict) or "ask" not in message:
            return
        answer: dict[str, Any] = {"answer": message["ask"]}
        try:
            asked = _ASKED.get(message.get("name", ""))
            if asked is None:
                raise WorkbenchError(f"no such question: {shown(message.get('name'))}; known: {', '.join(_ASKED)}")
            with self._lock:
                answer["result"] = asked(self, **message.get("with", {}))
        except WorkbenchError as error:
            answer["error"] = str(error).partition("\n")[0]
        except Exception as error:  # the front end waits for an answer, whatever happened
            answer["error"] = f"{type(error).__name__}: {error}"
        self.send(answer)

    def _offer(self, kinds: list[str] | None = None, seconds: float = 0.4) -> None:
        self.offers = offers_payload(self.schedule, kinds, min(seconds, 5.0))

    def _preview(self, step: dict[str, Any]) -> dict[str, Any]:
        """The code after a step that is not taken, legal or not."""
        after = preview(self.schedule, step_of(step))
        code = code_payload(after, unsafe=True)
        lines = ["".join(run[0] for run in line["runs"]) for line in code["lines"][code["start"] :]]
        return {"lines": lines or [code["reason"]], "verdict": str(after.verdict).partition(":")[0]}

    def _gesture(self, name: str, given: dict[str, Any]) -> None:
        self.apply(step_for(self.schedule, name, given))

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The live view, and for readers without a kernel the stored picture."""
        found = super()._repr_mimebundle_(**kwargs)
        data, about = found if isinstance(found, tuple) else (found, {})
        still = picture(self.schedule)
        kept = {"text/plain": still.text, "image/png": b64encode(still.png).decode(), STORED: {"title": self.title}}
        return {**(data or {}), **kept}, about


_ASKED: dict[str, Callable[..., Any]] = {
    "apply": lambda panel, step: panel.apply(step_of(step)),
    "undo": Panel.undo,
    "redo": Panel.redo,
    "go": lambda panel, place: panel._go(panel.history.at(place)),
    "offer": Panel._offer,
    "preview": Panel._preview,
    "gesture": Panel._gesture,
    "dismiss": lambda panel: setattr(panel, "refusal", {}),
}


def panel(
    value: Operator | Program | Schedule, /, panes: tuple[str, ...] = PANES, *, sizes: Mapping[str, int] | None = None
) -> Panel:
    """The linked views of an operator or a schedule: domain, code, tree, next steps and history.

    `panes` chooses among them and `sizes` fixes what the domain is drawn for.  Shown in a notebook by being the last
    value of a cell; `panel.schedule` is what the clicks made of it.
    """
    for name in panes:
        if name not in PANES:
            raise WorkbenchError(f"a panel has no pane {shown(name)}; known: {', '.join(PANES)}")
    return Panel(value if isinstance(value, Schedule) else scheduled(value), tuple(panes), sizes)
