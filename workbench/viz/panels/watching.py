"""A study in a panel: its trials as they arrive, and what is done with them by mouse."""

from __future__ import annotations

import threading
import time
import weakref
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError, shown, unknown_name
from workbench.tune.models.object_code import object_text
from workbench.tune.study import Study
from workbench.tune.trials import Trial
from workbench.viz.panels.listing import code_payload, plain_lines
from workbench.viz.tuning.study_figure import png_bytes, study_figure
from workbench.viz.tuning.study_payload import best_of_search, language_of, study_payload

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
        panel.study = self.payload()
        self._hear()

    def payload(self) -> dict[str, Any]:
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
            panel.study = self.payload()
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
