"""A study in a panel: its trials as they arrive, and what is done with them by mouse."""

from __future__ import annotations

import threading
import time
import weakref
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from workbench import poly
from workbench.errors import ScheduleError, WorkbenchError, shown, unknown_name
from workbench.runtime.measuring import roofs
from workbench.schedules.sketches.space import Space
from workbench.target_costs import Costs
from workbench.tune.importance import importance
from workbench.tune.models.object_code import object_text
from workbench.tune.models.working_sets import rates
from workbench.tune.study import Study
from workbench.tune.trials import OUTCOMES, Trial, default_of, fastest
from workbench.viz.messages.counting import Ceilings
from workbench.viz.messages.studying import StudyData, TrialRow
from workbench.viz.panels.code.listing import code_payload, plain_lines
from workbench.viz.panels.views import ceilings_payload
from workbench.viz.views.performance.study_figure import png_bytes, study_figure

if TYPE_CHECKING:
    from workbench.viz.panels.widget import Panel


SECONDS, PART = 0.4, 0.1
"""A panel is told of new trials after so long at the earliest, and making the message takes this part of the time."""


class Watching:
    """Keeps the trait `study` of a panel as its study is, from a thread that ends with the study or the panel."""

    def __init__(self, panel: Panel, study: Study, baselines: Mapping[str, float] | None = None) -> None:
        self.study = study
        self.baselines = dict(baselines or {})
        self._panel = weakref.ref(panel)
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._thread: threading.Thread | None = None
        study.listen(self._hear)
        panel.study = dict(self.payload())
        self._hear()

    def payload(self) -> StudyData:
        return study_payload(self.study, self.baselines)

    def _hear(self) -> None:
        """Something is new; the study's own thread does no more than say so."""
        with self._lock:
            self._changed.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._follow, name="watching a study", daemon=True)
                self._thread.start()

    def _follow(self) -> None:
        """Tell the panel, until nothing is new for a while; what comes after begins another thread."""
        while self._is_new():
            self._changed.clear()
            panel, begun = self._panel(), time.perf_counter()
            if panel is None:
                return
            panel.study = dict(self.payload())
            del panel
            time.sleep(max(SECONDS, (time.perf_counter() - begun) / PART))

    def _is_new(self) -> bool:
        """Whether something is new within a while; else this thread is over, and whoever hears next begins another."""
        self._changed.wait(SECONDS)
        with self._lock:
            if not self._changed.is_set():
                self._thread = None
            return self._thread is not None

    def still(self) -> dict[str, Any]:
        """What readers without a kernel see: the figure."""
        drawn = png_bytes(study_figure(self.study, baselines=self.baselines))
        return {"text/plain": str(self.study), "image/png": b64encode(drawn).decode()}

    def act(self, name: str) -> None:
        """Pause, resume or stop; WorkbenchError that lists what there is."""
        if name not in ACTIONS:
            raise WorkbenchError(unknown_name("action", name, list(ACTIONS)))
        ACTIONS[name](self.study)

    def show(self, panel: Panel, number: int) -> None:
        """The schedule of a trial in every pane, and what is said of it; the best one's code to compare with."""
        known = {trial.number: trial for trial in self.study.trials if trial.source != "default"}
        if number not in known:
            least, most = min(known, default=0), max(known, default=0)
            raise WorkbenchError(f"there is no trial {shown(number)}; there are {least} to {most}")
        trial = known[number]
        if trial.schedule:
            panel.history = panel.history.at(0)  # trials stand beside one another
            panel.schedule = self.study.schedule(trial)
        fastest = best_of_search(self.study)
        best = self._code(fastest, panel) if fastest else []
        message = "\n".join(filter(None, (trial.message, object_text(trial.features or {}))))
        told = {"number": number, "message": message, "shown": bool(trial.schedule), "best_code": best}
        panel.views = {**panel.views, "trial": told}

    def _code(self, trial: Trial, panel: Panel) -> list[str]:
        """The text of a trial's schedule, in the language of the study."""
        return plain_lines(code_payload(self.study.schedule(trial), language_of(self.study), panel.target))


def _stop(study: Study) -> None:
    """Beside: it waits for what is being measured."""
    threading.Thread(target=study.stop, daemon=True).start()


ACTIONS: dict[str, Callable[[Study], None]] = {"pause": Study.pause, "resume": Study.resume, "stop": _stop}


# -- A study as plain data for the front end: its state, its decisions, and a row for each trial --

LEVELS = ("L2", "L3", "memory")
"""Where the features say what a candidate has to fetch from."""


def study_payload(study: Study, baselines: Mapping[str, float]) -> StudyData:
    """What is drawn of a study; docs/panel.md has its schema."""
    trials = study.trials
    space = study.assignment.sketch.space
    best, default = best_of_search(study), default_of(trials)
    speedup = default.seconds / best.seconds if best and default and best.seconds and default.seconds else None
    measured = {} if study.ranked else baselines  # what somebody measured is not drawn beside estimates
    lines = {"default recipe": default.score if default else None, **measured}
    return {
        "name": str(study.key.problem), "state": study.state, "done": study.done, "budget": study.budget,
        "outcomes": list(OUTCOMES), "best": best.number if best is not None else None, "speedup": speedup,
        "decisions": [
            {"name": d.name, "options": [_option(o) for o in d.options], "ordered": d.ordered} for d in space.decisions
        ],
        "trials": [_row(trial, space, study.assignment.target.costs) for trial in trials if trial.source != "default"],
        "importance": [(name, round(value, 4)) for name, value in importance(trials).items()],
        "ranking": [(n, q.tau, q.recall, q.regret) for n, q in study.ranking.items()],
        "baselines": [(name, seconds) for name, seconds in lines.items() if seconds],
        "flops": _flops(study), "ceilings": _ceilings(),
        "why": study.reason, "ranked": study.ranked, "language": language_of(study),
    }  # fmt: skip


def language_of(study: Study) -> Literal["C", "CUDA"]:
    """The language that its candidates are written in."""
    return "CUDA" if study.assignment.target.language.for_gpu else "C"


def best_of_search(study: Study) -> Trial | None:
    """The fastest trial that the search made: the default recipe may be faster still."""
    return fastest(t for t in study.trials if t.source != "default")


def _row(trial: Trial, space: Space, costs: Costs) -> TrialRow:
    """Number, outcome, seconds (of a `ranked` study estimates), predicted seconds, round, whether confirmed, the places
    of its options, bytes, the number of the trial that it is a twin of.
    """
    return (
        trial.number, OUTCOMES.index(trial.outcome), trial.score, trial.predicted, trial.round, int(trial.confirmed),
        _places(trial, space), _bytes(trial, costs), trial.twin_of,
    )  # fmt: skip


def _places(trial: Trial, space: Space) -> list[int]:
    """Where the options of a trial stand; -1 for what a stored one decided that is no option any more."""
    found = []
    for decision in space.decisions:
        try:
            found.append(decision.place(decision.restored(trial.point.get(decision.name))))
        except ScheduleError:
            found.append(-1)
    return found


def _option(option: Any) -> str:
    return "none" if option is None else str(option)


def _bytes(trial: Trial, costs: Costs) -> list[float] | None:
    """Bytes that the analytic model has it fetch from the second cache, the third, and memory."""
    features = trial.features
    if not features or any(f"from_{level.lower()}" not in features for level in LEVELS):
        return None
    cycles = [2.0 ** features[f"from_{level.lower()}"] for level in LEVELS]
    return [round(c * costs.bytes_per_cycle(rate)) for c, rate in zip(cycles, rates(costs), strict=True)]


def _flops(study: Study) -> int:
    """Operations of a call; 0 where they cannot be counted."""
    try:
        return poly.flops(study.assignment.program)
    except WorkbenchError:
        return 0


def _ceilings() -> Ceilings | None:
    """The machine's ceilings, where they were measured."""
    known = roofs.known_ceilings()
    return None if known is None else ceilings_payload(known)
