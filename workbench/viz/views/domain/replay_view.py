"""`replay`: the execution of a schedule, moment by moment, as a picture, a GIF or a page with a time slider."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError, shown, unknown_name
from workbench.records import record
from workbench.runtime import this_machine
from workbench.target import Target
from workbench.viz.draw.palette import Theme
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.png import drawn
from workbench.viz.frames.coordinates import Sizes, subject
from workbench.viz.frames.frame import Asked
from workbench.viz.views.domain.cache_lines import Cache, scale, scaled_cache
from workbench.viz.views.domain.execution import Execution, executed
from workbench.viz.views.domain.replay_data import Reel, Shot, reel
from workbench.viz.views.domain.replay_drawing import counter_text, moment_scene, replay_notes
from workbench.viz.views.domain.replay_page import replay_page
from workbench.viz.views.domain.small_problem import Value

MOST_FRAMES = 150
LISTED = 16
LAST_MILLISECONDS = 1500
CHOSEN = Cache()


@record(eq=False)
class Replay:
    """An execution in moments: in each, every thread executes one instance, or the lanes of one vector.

    A cell shows the moment `now`; `replay[n]` is the picture of another, `save` writes a GIF or a page with a slider.
    """

    reel: Reel = field(repr=False)
    now: int

    def __len__(self) -> int:
        return len(self.reel.shots)

    def __getitem__(self, moment: int) -> Picture:
        """The picture of a moment, counted from 0; negative ones from the end.  WorkbenchError when there is none."""
        if not isinstance(moment, int) or not -len(self) <= moment < len(self):
            raise WorkbenchError(f"there is no moment {shown(moment)}; expected 0 to {len(self) - 1}")
        number = moment % len(self)
        return Picture(replay_text(self.reel, number), moment_scene(self.reel, number), data=self.reel.shots[number])

    @cached_property
    def picture(self) -> Picture:
        """The moment `now`."""
        return self[self.now]

    @property
    def player(self) -> str:
        """A whole HTML page with a time slider and a play button; its script is in it, nothing is loaded."""
        return replay_page(self.reel, self.now)

    def gif(self, *, milliseconds: int = 120, theme: Theme = "light") -> bytes:
        """An animated GIF.  Of a long execution every second, third ... moment, so that there are at most 150."""
        if not isinstance(milliseconds, int) or not 20 <= milliseconds <= 10_000:
            raise WorkbenchError(f"milliseconds={shown(milliseconds)} does not fit; expected 20 to 10000")
        step = -(-len(self) // MOST_FRAMES)
        numbers = sorted({*range(0, len(self), step), len(self) - 1})
        first = drawn(moment_scene(self.reel, numbers[len(numbers) // 2]), theme, 2).reduce(2).quantize(96)
        scenes = (moment_scene(self.reel, n) for n in numbers)
        images = [drawn(scene, theme, 2).reduce(2).quantize(palette=first, dither=0) for scene in scenes]
        out = BytesIO()
        times = [milliseconds] * (len(images) - 1) + [LAST_MILLISECONDS]
        images[0].save(out, "GIF", save_all=True, append_images=images[1:], duration=times, loop=0, optimize=False)
        return out.getvalue()

    def save(self, path: str | PathLike[str], *, theme: Theme = "light") -> Path:
        """Write it: `.gif` and `.html` move; `.svg`, `.png`, `.pdf` and `.txt` are the moment `now`.

        Raises WorkbenchError for another ending.
        """
        target = Path(path)
        match target.suffix:
            case ".gif":
                target.write_bytes(self.gif(theme=theme))
            case ".html":
                target.write_text(self.player, encoding="utf-8")
            case ".svg" | ".png" | ".pdf" | ".txt":
                self.picture.save(target, theme=theme)
            case other:
                known = [".gif", ".html", ".svg", ".png", ".pdf", ".txt"]
                raise WorkbenchError(f"cannot save this replay: {unknown_name('ending', other, known)}")
        return target

    def __str__(self) -> str:
        return self.picture.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return self.picture._repr_mimebundle_()


def replay(
    value: Value,
    x: str | None = None,
    y: str | None = None,
    *,
    sizes: Sizes | None = None,
    now: int | None = None,
    cache_bytes: int | None = None,
    line_bytes: int | None = None,
    target: Target | None = None,
) -> Replay:
    """The execution of a schedule at sizes small enough to look at: who runs when, which cells, which cache lines.

    Threads run side by side, the lanes of a vector at once.  The cache is fully associative, keeps what was used last,
    and is shared: the first one of `target` (by default this machine), scaled with what is drawn, as the caption says,
    unless `cache_bytes` (in lines of `line_bytes`, by default 16) choose one.  `now` is the moment that a cell shows
    (two thirds of the way by default).  Axes and sizes are as for `domain`.

    Raises WorkbenchError for unknown axes and sizes, and when there are more than 2000 moments.
    """
    execution = executed(value, Asked(x, y, sizes))
    if cache_bytes is None and line_bytes is None:
        cache = _scaled(value, execution, target or this_machine())
    else:
        size, line = CHOSEN.size if cache_bytes is None else cache_bytes, line_bytes
        cache = Cache(size, CHOSEN.line if line is None else line)
    found = reel(execution, cache)
    if not found.shots:
        raise WorkbenchError(f"{found.execution.program.name} executes nothing at these sizes")
    made = Replay(found, 0)
    if now is not None:
        made[now]  # refuses a moment that is not there
    return Replay(found, len(found.shots) * 2 // 3 if now is None else now % len(found.shots))


def _scaled(value: Value, execution: Execution, target: Target) -> Cache:
    """The cache of a machine, as small as the drawing."""
    smaller = scale(subject(value).program, execution.program, {})
    return scaled_cache(target, smaller, max(a.dtype.bytes for a in execution.program.original.arrays.values()))


def replay_text(found: Reel, number: int) -> str:
    """The last moments up to one, a line each: what runs, what it touches, what was found in the cache."""
    program = found.execution.program
    sizes = ", ".join(f"{k}={v}" for k, v in program.sizes.items())
    first = max(0, number - LISTED + 1)
    lines = [f"  {i + 1:>4}  {_moment(found, i)}" for i in range(first, number + 1)]
    head, below = f"execution of {program.name} for {sizes}", replay_notes(found)
    return "\n".join([head, *lines, counter_text(found, number), *below])


def _moment(found: Reel, number: int) -> str:
    parts = []
    for event in found.execution.moments[number]:
        name = found.execution.program.statement(event.statement).name
        first, last = event.instances[0], event.instances[-1]
        where = ",".join(map(str, first)) + ("" if first == last else f" … {','.join(map(str, last))}")
        parts.append(("" if event.thread is None else f"thread {event.thread}: ") + f"{name}({where})")
    return "; ".join(parts) + f"   {_cells(found.shots[number])}"


def _cells(shot: Shot) -> str:
    """How many cells of which array, how many of their lines were missing."""
    arrays = dict.fromkeys(t.array for t in shot.touched)
    counts = (f"{a}×{len({t.element for t in shot.touched if t.array == a})}" for a in arrays)
    missed = sum(not t.hit for t in shot.touched)
    return " ".join(counts) + (f", {missed} missed" if missed else "")
