"""A panel's state as text: operator, sizes, steps, panes, what is lit; as a file to keep or a link to send.

What comes back is judged anew, step by step: a text from somebody else can show a schedule, and not make a wrong one
look legal.  It names no file and runs nothing.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import ScheduleError, WorkbenchError, shown
from workbench.lang import operator
from workbench.schedules import Schedule
from workbench.viz.messages.stepping import Kept, Still
from workbench.viz.panels.history import History, Moment

if TYPE_CHECKING:
    from workbench.viz.panels.widget import Panel

FORMAT = 1
LINK = "tensor-workbench:"
ENDING = ".panel.json"
LONGEST = 4_000_000  # characters of a state that is read
NONE = "this is no panel's state, as panel.save(path) and panel.link() write it"
HELD = ("panes", "arrangement", "selection")


def kept_text(panel: Panel) -> str:
    """The state as JSON; WorkbenchError for a schedule that was not made from an operator's text."""
    schedule = panel.schedule
    definition = schedule.program.original.definition
    if definition is None or definition.language == "c":
        raise WorkbenchError(f"{schedule.program.name} has no operator text: keep its Python, str(panel.history)")
    held = {name: getattr(panel, name) for name in HELD}
    sizes = dict(panel.sizes) if panel.sizes else None
    state = {"panel": FORMAT, "operator": definition.text, "schedule": json.loads(schedule.to_json()), "sizes": sizes}
    return json.dumps({**state, **held}, indent=1)


def link(panel: Panel) -> str:
    """The state in one line, which `wb.panel` opens."""
    return LINK + base64.urlsafe_b64encode(zlib.compress(kept_text(panel).encode(), 9)).decode()


def keep(panel: Panel) -> Kept:
    """The state for the front end, as a file and as a link."""
    return {"name": f"{panel.title}{ENDING}", "text": kept_text(panel), "link": link(panel)}


def still(panel: Panel) -> Still:
    """The stored picture of what is shown now, for readers without a kernel."""
    return {"data": panel.watching.still() if panel.watching else panel.drawings.still(panel.schedule)}


def is_kept(value: object) -> bool:
    """Whether a value is a link, or the path of a file with a state."""
    if isinstance(value, Path):
        return True
    return isinstance(value, str) and (value.startswith(LINK) or value.endswith(ENDING))


def read_kept(value: str | Path) -> dict[str, Any]:
    """The state that a link, a file or its text holds; WorkbenchError says what does not fit."""
    text = str(value)
    if isinstance(value, Path) or (text.endswith(ENDING) and not text.startswith((LINK, "{"))):
        text = _read(Path(value))
    elif text.startswith(LINK):
        text = _unpacked(text[len(LINK) :])
    if len(text) > LONGEST:
        raise WorkbenchError(f"a panel's state has at most {LONGEST} characters, and this one {len(text)}")
    try:
        state = json.loads(text)
    except ValueError as error:
        raise WorkbenchError(f"{NONE}: {error}") from None
    if not isinstance(state, dict) or not isinstance(state.get("operator"), str):
        raise WorkbenchError(f"{NONE}: {shown(state)}")
    if state.get("panel") != FORMAT:
        raise WorkbenchError(f"a panel's state of format {shown(state.get('panel'))}; this version reads {FORMAT}")
    return state


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WorkbenchError(f"the panel's state {path} cannot be read: {error}") from None


def _unpacked(text: str) -> str:
    """The text of a link; never more of it than would be read."""
    try:
        unpacking = zlib.decompressobj()
        return unpacking.decompress(base64.urlsafe_b64decode(text), LONGEST + 1).decode()
    except (ValueError, zlib.error) as error:
        raise WorkbenchError(f"this link is damaged or not whole: {error}") from None


def schedule_of(state: Mapping[str, Any]) -> Schedule:
    """The schedule of a state, every step judged; ScheduleError (or OperatorError) says what does not fit."""
    return Schedule.from_json(operator(state["operator"]), json.dumps(state.get("schedule")))


def way_to(schedule: Schedule) -> History:
    """A history with a moment for every step, so that each can be undone."""
    before, history = schedule.start, History((Moment(schedule.start),))
    for step in schedule.trace:
        try:
            before = before | step
        except ScheduleError:
            return History((Moment(schedule),))
        history = history.then(before)
    return history


def restore(panel: Panel, text: str) -> None:
    """Show in a panel what a text or a link holds."""
    state = read_kept(text)
    history = way_to(schedule_of(state))
    with panel.lock:
        panel._go(history)
        hold(panel, state)


def hold(panel: Panel, state: Mapping[str, Any]) -> None:
    """Panes, arrangement and selection of a state; WorkbenchError for those that mean nothing here."""
    for name in HELD:
        if name in state:
            setattr(panel, name, state[name])
