"""The panel as an anywidget: traits that say everything needed to draw it, messages for questions."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from workbench.errors import IllegalSchedule, ScheduleError, WorkbenchError, shown
from workbench.runtime import this_machine
from workbench.schedules import Schedule, preview
from workbench.schedules.offers import Gathering
from workbench.schedules.transform import Transform
from workbench.target import Target
from workbench.viz.draw.palette import variables
from workbench.viz.frames.frame import Asked
from workbench.viz.messages import counting, drawn, stepping
from workbench.viz.messages.panes import PANES, pane_names
from workbench.viz.panels.choosing.menu import Menu, asked_menu
from workbench.viz.panels.code.compiling import tools
from workbench.viz.panels.drawing import Drawings
from workbench.viz.panels.gestures import judged, step_for
from workbench.viz.panels.history import History, Moment, history_payload
from workbench.viz.panels.machines import machine_payload, machine_target
from workbench.viz.panels.mapping import costs_payload, map_payload
from workbench.viz.panels.offering import asked_offers, judged_again, refusal_payload, step_of
from workbench.viz.panels.on_gpu import on_gpu
from workbench.viz.panels.rewriting import checked_text, rewrite
from workbench.viz.panels.selecting import checked_selection
from workbench.viz.panels.storing.kept import keep, kept_text, link, restore, still
from workbench.viz.panels.views import exports, film, measuring, modelled, view, watched

if TYPE_CHECKING:
    from workbench.viz.panels.exporting.exports import Exports
    from workbench.viz.panels.measuring.measured import Measured
    from workbench.viz.panels.measuring.measuring import Measuring
    from workbench.viz.panels.models.networks import Network
    from workbench.viz.panels.watching import Watching

STATIC = Path(__file__).parent / "static"
BESIDE = ("again", "gpu", "still")  # questions that take long
STORED = "application/vnd.tensor-workbench.panel+json"  # by this JupyterLab's extension finds panels among outputs


class Panel(anywidget.AnyWidget):
    """A schedule with its domain, tree, code and history side by side; what is done by mouse is a step of the trace.

    `schedule` is what is shown, `history` every way taken so far, `selection` what is lit (see `checked_selection`),
    `target` the machine that bytes are counted and C is written for; `apply`, `undo` and `redo` do what the buttons do;
    `registered` has what was registered with frameworks.  Traits carry all that is drawn: docs/panel.md has a schema.
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
    machine = traitlets.Dict().tag(sync=True)
    views = traitlets.Dict().tag(sync=True)
    source = traitlets.Dict().tag(sync=True)
    study = traitlets.Dict().tag(sync=True)
    export = traitlets.Dict().tag(sync=True)
    measured = traitlets.Dict().tag(sync=True)
    network = traitlets.Dict().tag(sync=True)
    arrangement = traitlets.Dict().tag(sync=True)

    def __init__(
        self, start: Schedule | History, panes: tuple[str, ...] = PANES, sizes: Mapping[str, int] | None = None,
        target: Target | None = None,
    ) -> None:  # fmt: skip
        # Messages may arrive on a thread of their own while a cell runs: one lock for all that they touch.
        self.lock = threading.RLock()
        self._asked = Asked(sizes=sizes)
        self._target = target or this_machine()
        self.drawings = Drawings(self._asked)
        self.gathering: Gathering | None = None  # next steps that are being looked at
        self.menus: list[Menu] = []  # those of what is shown
        self.watching: Watching | Network | None = None
        self.exports: Exports | None = None
        self.measuring: Measuring | None = None
        self.mapped: tuple[Schedule, Schedule] | None = None  # a schedule, and the same on a GPU
        self.registered: dict[str, Any] = {}
        self.history = start if isinstance(start, History) else History((Moment(start),))
        drawn = {**self._picture(), "code": self.drawings.code(self.schedule, self._target)}
        super().__init__(panes=pane_names(panes), machine=machine_payload(self._target), **drawn)
        self.on_msg(self._answer)
        self.observe(self._change_machine, "machine")

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

    @property
    def target(self) -> Target:
        """The machine that bytes are counted and C is written for."""
        return self._target

    @target.setter
    def target(self, value: Target) -> None:
        if not isinstance(value, Target) or value.language.for_gpu:
            raise WorkbenchError(f"a panel counts for a Target of dialect c, not for {shown(value)}")
        with self.lock:
            self._target = value
            self.machine = machine_payload(value)

    @property
    def sizes(self) -> Mapping[str, int] | None:
        """The sizes that the domain is drawn for, where they were given."""
        return self._asked.sizes

    def measure(self) -> Measured:
        """What came of building, checking and timing what is shown, in processes of the tuner; an interrupt ends it."""
        return measuring(self).now(self.schedule)

    @property
    def measurements(self) -> Mapping[Schedule, Measured]:
        """What was measured for this panel's machine, by schedule."""
        return self.measuring.known(self._target) if self.measuring else {}

    def link(self) -> str:
        """All that is shown in one line of text: `wb.panel(link)` opens it elsewhere, every step judged anew."""
        return link(self)

    def save(self, path: str | Path) -> Path:
        """The same as a file, which `wb.panel(Path(path))` opens; returns its path."""
        Path(path).write_text(kept_text(self), encoding="utf-8")
        return Path(path)

    def apply(self, step: Transform) -> None:
        """Take a step; one that is refused is shown with its reason and raises IllegalSchedule (or ScheduleError)."""
        with self.lock:
            self._go(self.history.then(self._judged(step)))

    def _judged(self, step: Transform) -> Schedule:
        """The schedule after a step; one that is refused is shown, and raises."""
        try:
            return self.schedule | step
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
        with self.lock:
            before, self.history = self.schedule, history
            self._draw(moved=self.schedule is not before)

    def _draw(self, *, moved: bool = True) -> None:
        """Every trait anew: the picture as one message, then the code, which takes longest.

        What was worked out for the same schedule stays; a selection that has no meaning any more is dropped.
        """
        with self.hold_sync():
            for name, value in self._picture().items():
                setattr(self, name, value)
            self.refusal, self.offers = {}, {}
            if self.exports:
                self.exports.forget()
            self.views = {} if moved else self.views
        with self.hold_sync():
            self.code = self.drawings.code(self.schedule, self._target)
            with suppress(WorkbenchError):
                self.selection = dict(self.selection)
                return
            self.selection = {}

    def _picture(self) -> dict[str, Any]:
        known = {"measured": dict(self.measuring.payload(self.history, self._target))} if self.measuring else {}
        return {**self.drawings.picture(self.schedule), "past": history_payload(self.history), **known}

    @traitlets.validate("selection")
    def _valid_selection(self, proposal: Any) -> drawn.Selection:
        now = self.schedule
        return checked_selection(proposal["value"], now.program, now.tree, len(self.code.get("lines", ())))

    @traitlets.validate("panes")
    def _valid_panes(self, proposal: Any) -> list[str]:
        return pane_names(proposal["value"])

    @traitlets.validate("machine")
    def _valid_machine(self, proposal: Any) -> counting.Machine:
        return machine_payload(machine_target(proposal["value"], self._target))

    def _change_machine(self, change: Any) -> None:
        """Code is written again where the width of vectors is another one; bytes are compared in the front end."""
        with self.lock, self.hold_sync():
            wider = change["new"]["vector_bits"] != change["old"].get("vector_bits")
            self._target = machine_target(change["new"], self._target)
            if wider:
                self.code = self.drawings.code(self.schedule, self._target)
                self.views = {name: found for name, found in self.views.items() if name != "assembly"}

    # -- messages ------------------------------------------------------------------------------------------------------

    def _answer(self, _: Any, message: Any, __: Any) -> None:
        """Questions of the front end, `{"ask": number, "name": ..., "with": {...}}`; the answer bears the number."""
        if not isinstance(message, dict) or "ask" not in message:
            return
        if message.get("name") in BESIDE:  # everything else is answered meanwhile
            work = contextvars.copy_context().run
            threading.Thread(target=work, args=(self._reply, message), name="an answer", daemon=True).start()
            return
        with self.lock:
            self._reply(message)

    def _reply(self, message: dict[str, Any]) -> None:
        answer: dict[str, Any] = {"answer": message["ask"]}
        try:
            asked = _ASKED.get(message.get("name", ""))
            if asked is None:
                raise WorkbenchError(f"no such question: {shown(message.get('name'))}; known: {', '.join(_ASKED)}")
            answer["result"] = asked(self, **message.get("with", {}))
        except WorkbenchError as error:
            answer["error"] = str(error).partition("\n")[0]
        except Exception as error:  # the front end waits for an answer, whatever happened
            answer["error"] = f"{type(error).__name__}: {error}"
        self.send(answer)

    def _preview(self, step: stepping.Step) -> stepping.Preview:
        """What a step that is not taken would make of code, domain and loops; an illegal one is shown as refused."""
        taken = step_of(step)
        after = preview(self.schedule, taken)
        if not after.verdict:
            with suppress(IllegalSchedule, ScheduleError):
                self._judged(taken)
        return self.previewed(after)

    def previewed(self, after: Schedule, language: str = "C") -> stepping.Preview:
        """What a schedule that is only looked at makes of code, domain and loops."""
        return self.drawings.previewed(after, self._target, language)

    def _view(self, name: str, given: dict[str, Any] | None = None) -> None:
        self.views = {**self.views, name: view(self, name, **(given or {}))}

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The live view, and for readers without a kernel the stored picture."""
        found = super()._repr_mimebundle_(**kwargs)
        data, about = found if isinstance(found, tuple) else (found, {})
        return {**(data or {}), **still(self)["data"], STORED: {"title": self.title}}, about


_ASKED: dict[str, Callable[..., Any]] = {
    "apply": lambda panel, step: panel.apply(step_of(step)),
    "undo": Panel.undo,
    "redo": Panel.redo,
    "go": lambda panel, place: panel._go(panel.history.at(place)),
    "offer": asked_offers,
    "again": judged_again,
    "preview": Panel._preview,
    "gpu": on_gpu,
    "gesture": lambda panel, name, given: panel.apply(step_for(panel.schedule, name, given)),
    "dismiss": lambda panel: setattr(panel, "refusal", {}),
    "judge": judged,
    "menu": asked_menu,
    "map": lambda panel, **given: map_payload(panel.schedule, **given),
    "costs": lambda panel, steps: costs_payload(panel.schedule, steps),
    "view": Panel._view,
    "check": lambda _, text: checked_text(text),
    "rewrite": rewrite,
    "film": film,
    "export": lambda panel, **given: exports(panel).act(**given),
    "measure": lambda panel, do: measuring(panel).act(do),
    "study": lambda panel, do: watched(panel).act(do),
    "tools": lambda _: tools(),
    "keep": keep,
    "still": still,
    "restore": restore,
    "trial": lambda panel, number: watched(panel).show(panel, number),
    "network": lambda panel, **given: modelled(panel).act(panel, **given),
}
