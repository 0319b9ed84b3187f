"""The exports of a panel: each is worked out beside, shown, and then written or registered if somebody says so."""

from __future__ import annotations

import contextvars
import filecmp
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import export
from workbench.errors import WorkbenchError, shown, unknown_name
from workbench.export.dispatch.files import folder_of, put_file
from workbench.schedules import Schedule
from workbench.viz.messages.exporting import Doing, Export, ExportData, FileText, WayOut
from workbench.viz.panels.exporting.looking import Look, look, text_of
from workbench.viz.panels.exporting.ways import Way, way_named, ways
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.viz.panels.widget import Panel


BUSY = ("building", "writing", "registering")


@dataclass(eq=False)
class Job:
    """One way out for one schedule: where it is (`state`: one of `BUSY`, or "shown"), what there is to be seen.

    `error` says why the last thing did not go, `asks` which files are in the way in which directory, `done` what was
    done last.
    """

    way: Way
    schedule: Schedule
    script: str
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="workbench-export-")))
    state: Doing = "shown"
    look: Look | None = None
    error: str = ""
    asks: tuple[str, tuple[str, ...]] | None = None
    done: str = ""

    def __post_init__(self) -> None:
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


class Exports:
    """Keeps the trait `export` of a panel; what compiles or copies runs on a thread of its own, once at a time."""

    def __init__(self, panel: Panel) -> None:
        self._panel = weakref.ref(panel)
        self._lock = threading.RLock()
        self._jobs: dict[str, Job] = {}
        self._chosen = ""
        self._own: dict[Path, str] = {}

    def act(self, do: str = "begin", **given: Any) -> Any:
        """What the front end asks for; WorkbenchError that lists what there is."""
        if do not in _ACTIONS:
            raise WorkbenchError(unknown_name("action", str(do), list(_ACTIONS)))
        with self._lock:
            answer = _ACTIONS[do](self, **given)
            self._tell()
        return answer

    def forget(self) -> None:
        """The panel shows another schedule: what was worked out for the one before is let go."""
        with self._lock:
            now = self._subject()
            self._jobs = {name: job for name, job in self._jobs.items() if job.schedule == now}
            if self._chosen and self._chosen not in self._jobs:
                self._chosen = ""
                self._tell()

    # -- what is done

    def _choose(self, way: str) -> None:
        """Show what a way would do; it is worked out unless it is already, or is being."""
        wanted, now, job = way_named(way), self._subject(), self._jobs.get(way)
        self._chosen = way
        if job is None or job.schedule != now or (job.look is None and job.state not in BUSY):
            job = self._jobs[way] = Job(wanted, now, now.to_python())
            self._start(job, "building", lambda: {"look": look(job.way, job.schedule, job.folder)})

    def _text(self, file: str) -> FileText:
        """The text of a file that would be written; None for one that is not a text."""
        files = self._seen()[1].files
        if file not in files:
            raise WorkbenchError(unknown_name("file", str(file), list(files)))
        return {"text": text_of(files[file].path)}

    def _write(self, directory: object, over: Sequence[str] = ()) -> None:
        """Copy the files; those of others that are in the way only if they are among those to be written `over`."""
        job, seen = self._seen()
        if not seen.files:
            raise WorkbenchError(f"{job.way.title}: there is nothing to write; it is registered")
        self._start(job, "writing", lambda: self._copied(seen, target_of(directory), over))

    def _register(self) -> None:
        job, seen = self._seen()
        if not seen.signature:
            raise WorkbenchError(f"{job.way.title}: there is nothing to register; it is written")
        self._start(job, "registering", lambda: self._registered(job))

    def _dismiss(self) -> None:
        if job := self._jobs.get(self._chosen):
            job.error, job.asks = "", None

    def _seen(self) -> tuple[Job, Look]:
        job = self._jobs.get(self._chosen)
        if job is None or job.look is None:
            raise WorkbenchError("nothing is shown yet: choose a way out first, and wait until it is built")
        return job, job.look

    # -- beside

    def _start(self, job: Job, state: Doing, work: Callable[[], dict[str, Any]]) -> None:
        """Begin on a thread, unless the job is at something; what comes of it are fields of the job."""
        if job.state in BUSY:
            return
        job.state, job.error, job.asks, job.done = state, "", None, ""
        inside = contextvars.copy_context()
        threading.Thread(target=inside.run, args=(self._run, job, work), name="an export", daemon=True).start()

    def _run(self, job: Job, work: Callable[[], dict[str, Any]]) -> None:
        try:
            changes = work()
        except WorkbenchError as error:
            changes = {"error": str(error)}
        except Exception as error:  # the front end waits, whatever happened
            changes = {"error": f"{type(error).__name__}: {error}"}
        with self._lock:
            for name, value in {"state": "shown", **changes}.items():
                setattr(job, name, value)
            if self._jobs.get(self._chosen) is job:
                self._tell()

    def _copied(self, seen: Look, target: Path, over: Sequence[str]) -> dict[str, Any]:
        files = {name: file.path for name, file in seen.files.items()}
        others = tuple(name for name in in_the_way(files, target, self._own) if name not in over)
        if others:
            return {"asks": (str(target), others)}
        self._own |= put(files, target)
        return {"done": f"{number_of(len(files), 'file')} written into {target}"}

    def _registered(self, job: Job) -> dict[str, Any]:
        panel, name = self._panel(), job.way.name
        made = getattr(export, name)(job.schedule)
        if panel is not None:
            panel.registered = {**panel.registered, name: made}
        return {"done": f"registered; in Python it is panel.registered[{name!r}]"}

    # -- what is told

    def _subject(self) -> Schedule:
        """The schedule that is shown; of a study its best."""
        panel = self._panel()
        assert panel is not None
        study = getattr(panel.watching, "study", None)  # a network that is watched has none
        return panel.schedule if study is None else study.best

    def _tell(self) -> None:
        panel = self._panel()
        if panel is not None:
            panel.export = dict(self._payload(of_study=panel.watching is not None))

    def _payload(self, *, of_study: bool) -> ExportData:
        buttons: list[WayOut] = [{"name": w.name, "title": w.title, "missing": w.missing} for w in ways()]
        job = self._jobs.get(self._chosen)
        shown = None if job is None else _told(job, "the study's best" if of_study else "this schedule")
        return {"ways": buttons, "chosen": self._chosen, "job": shown}


def _told(job: Job, of: str) -> Export:
    """A job for the front end, and whose schedule it is; see docs/panel.md."""
    seen, way, name = job.look or Look({}, ()), job.way, job.schedule.program.name
    return {
        "title": way.title, "takes": way.takes, "state": job.state, "of": of, "steps": job.schedule.steps(),
        "script": job.script, "call": way.call(), "file": way.file(name), "usual": f"./{name}_{way.name}",
        "files": [(file, found.bytes, found.is_text) for file, found in seen.files.items()],
        "kernels": list(seen.kernels), "built": list(seen.built), "notes": list(seen.notes),
        "signature": seen.signature, "error": job.error, "done": job.done,
        "asks": {"directory": job.asks[0], "files": list(job.asks[1])} if job.asks else None,
    }  # fmt: skip


_ACTIONS: dict[str, Callable[..., Any]] = {
    "begin": lambda exports: None,
    "choose": Exports._choose,
    "text": Exports._text,
    "write": Exports._write,
    "register": Exports._register,
    "dismiss": Exports._dismiss,
}


# -- Files into a directory of somebody's, where others may stand already --

def target_of(directory: object) -> Path:
    """The directory, made if it is not there; WorkbenchError if it cannot be."""
    if not isinstance(directory, str) or not directory.strip():
        raise WorkbenchError(f"directory={shown(directory)} names no place; expected one such as './kernel_c'")
    return folder_of(directory.strip())


def in_the_way(files: Mapping[str, Path], target: Path, own: Mapping[Path, str]) -> list[str]:
    """The files that would be replaced by others, apart from those that still are as we wrote them (`own`)."""
    return [name for name, new in files.items() if _differs(target / name, new, own)]


def _differs(there: Path, new: Path, own: Mapping[Path, str]) -> bool:
    if not os.path.lexists(there):
        return False
    if not there.is_file():
        return True
    return not filecmp.cmp(there, new, shallow=False) and own.get(there) != _digest(there)


def put(files: Mapping[str, Path], target: Path) -> dict[Path, str]:
    """Copy each to its place; their digests.  WorkbenchError where one cannot be written."""
    try:
        placed = [put_file(path, target / name) for name, path in files.items()]
    except OSError as reason:
        raise WorkbenchError(f"directory={shown(str(target))} cannot be written: {reason}") from reason
    return {path: _digest(path) for path in placed}


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
