"""One moment of a replay as a scene: instances done and running, cells touched, lines the cache holds."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.poly.programs.program import ProgramStatement
from workbench.viz.draw.scene import Box, Line, Mark, Marker, Scene, Text, above, beside, paragraph
from workbench.viz.views.domain.array_grids import grids_scene
from workbench.viz.views.domain.domain_data import Cell
from workbench.viz.views.domain.replay_data import Board, Reel, Shot, Touched
from workbench.wording import number_of

READ, WRITE, HELD = "a0", "a2", "a3"
THREADS = ("s3", "s4", "s5", "s2", "s0", "s1")


def moment_scene(reel: Reel, number: int) -> Scene:
    """The picture of a moment: boards, arrays, the words below."""
    boards = beside([board_scene(reel, n, number) for n in range(len(reel.boards))], limit=470.0)
    return above(
        title(reel),
        beside([boards, arrays_scene(reel, number)], gap=36.0, limit=900.0),
        _key(reel),
        counter(reel, number),
        paragraph(replay_notes(reel), 560.0),
    )


def replay_notes(reel: Reel) -> list[str]:
    """At which sizes this is, instead of which, and what the cache is for."""
    said = [f"{note[0].upper()}{note[1:]}." for note in reel.execution.notes]
    cache = reel.cache.words or "The cache is one that was asked for."
    return [*said, f"{cache} It shows lines come and go, and foretells no processor."]


def thread_role(thread: int) -> str:
    """The colour of a thread."""
    return THREADS[thread % len(THREADS)]


def title(reel: Reel) -> Scene:
    """What is executed, at which sizes."""
    sizes = ", ".join(f"{k}={v}" for k, v in reel.execution.program.sizes.items())
    words = Text(0, 13, f"execution of {reel.execution.program.name} for {sizes}", 12.5, bold=True)
    return Scene(words.width, 22, (words,), words.text)


def board_scene(reel: Reel, which: int, number: int) -> Scene:
    """One coordinate system at a moment."""
    board = reel.boards[which]
    own = [reel.execution.program.statement(s) for s in board.statements]
    head = named(list(dict.fromkeys(_short(s) for s in own)), board.axes.width)
    marks = (
        *board.axes.marks(),
        *points(board),
        *progress(reel, which, number),
        *_running(board, reel.shots[number], which),
    )
    return above(head, Scene(board.axes.width, board.axes.height, marks), gap=0)


def named(names: list[str], limit: float) -> Scene:
    """The statements of a picture above it: in one line where that is no wider, else one below another."""
    whole = ", ".join(names)
    fits = Text(0, 0, whole, 12, mono=True, bold=True).width <= limit
    lines = [
        Text(0, 13 + 16 * i, text, 12, "soft", mono=True, bold=True) for i, text in enumerate([whole] * fits or names)
    ]
    return Scene(max(limit, *(line.width for line in lines)), 4 + 16 * len(lines), tuple(lines))


def _short(statement: ProgramStatement) -> str:
    return f"{statement.name}({', '.join(statement.dims)})"


def points(board: Board) -> list[Mark]:
    """Every place, not yet executed."""
    size = min(4.6, board.axes.unit * 0.17)
    return [Marker(*board.axes.at(*cell), "grid", "disc", size) for cell in board.cells]


def progress(reel: Reel, which: int, number: int) -> list[Mark]:
    """Places that were executed, darker the more of their instances were."""
    board, done = reel.boards[which], _visits(reel, which, range(number + 1))
    everything = _visits(reel, which, range(len(reel.shots)))
    size = min(4.6, board.axes.unit * 0.17)
    return [_visited(board, cell, done[cell] / everything[cell], size) for cell in board.cells if cell in done]


def _visited(board: Board, cell: Cell, share: float, size: float) -> Mark:
    x, y = board.axes.at(*cell)
    return Box(x - size, y - size, 2 * size, 2 * size, "soft", None, size, 0.35 + 0.65 * share)


def _visits(reel: Reel, which: int, numbers: Iterable[int]) -> dict[Cell, int]:
    """How often each place is executed in some moments."""
    found: dict[Cell, int] = {}
    for number in numbers:
        for board, cell, _ in reel.shots[number].places:
            if board == which:
                found[cell] = found.get(cell, 0) + 1
    return found


def _running(board: Board, shot: Shot, which: int) -> list[Mark]:
    """Places of this moment in the colours of their threads."""
    size = min(9.0, board.axes.unit * 0.34)
    return [
        Marker(*board.axes.at(*cell), thread_role(thread), "square", size)
        for n, cell, thread in shot.places
        if n == which
    ]


def arrays_scene(reel: Reel, number: int) -> Scene:
    """The arrays: lines the cache holds are shaded, cells of this moment filled; a miss has a frame."""
    return grids_scene(reel.grids, [*_held(reel, reel.shots[number]), *_touched(reel, reel.shots[number])])


def _held(reel: Reel, shot: Shot) -> list[Mark]:
    lines = set(shot.lines)
    return [
        grid.cell(e, HELD, 0.35)
        for grid in reel.grids
        for e in range(grid.elements)
        if reel.layout.line_of(grid.array, e) in lines
    ]


def _touched(reel: Reel, shot: Shot) -> list[Mark]:
    by_name = {grid.array: grid for grid in reel.grids}
    marks: list[Mark] = []
    for (array, element), touches in _by_cell(shot).items():
        grid = by_name[array]
        marks.append(grid.cell(element, WRITE if any(t.writes for t in touches) else READ))
        if not touches[0].hit:
            x, y = grid.at(element)
            marks.append(Box(x - 0.5, y - 0.5, grid.unit + 1, grid.unit + 1, None, "bad", 2.0))
            marks.append(Box(x + 0.5, y + 0.5, grid.unit - 1, grid.unit - 1, None, "bad", 1.5))
    return marks


def _by_cell(shot: Shot) -> dict[tuple[str, int], list[Touched]]:
    found: dict[tuple[str, int], list[Touched]] = {}
    for t in shot.touched:
        found.setdefault((t.array, t.element), []).append(t)
    return found


def _key(reel: Reel) -> Scene:
    """What the colours say."""
    marks: list[Mark] = []
    x = 0.0
    for role, edge, words in (
        (READ, None, "read"), (WRITE, None, "written"), (None, "bad", "cache miss"), (HELD, None, "line in the cache"),
    ):  # fmt: skip
        marks.append(Box(x, 3, 11, 11, role, edge, 1.5, 0.35 if role == HELD else 1.0))
        text = Text(x + 17, 13, words, 12, "soft")
        marks.append(text)
        x += 17 + text.width + 18
    for thread in range(min(reel.execution.threads, len(THREADS)) if reel.execution.threads > 1 else 0):
        text = Text(x + 15, 13, f"thread {thread}", 12, thread_role(thread))
        marks += [Marker(x + 5, 8.5, thread_role(thread), "square", 5.0), text]
        x += 15 + text.width + 14
    return Scene(x, 20, tuple(marks))


def counter(reel: Reel, number: int) -> Scene:
    """Which moment this is, and how the cache fared so far."""
    words = Text(0, 28, counter_text(reel, number), 12, "ink")
    share = (number + 1) / max(1, len(reel.shots))
    wide = 420.0
    bar = (Line((0, 8), (wide, 8), "grid", 4.0), Line((0, 8), (wide * share, 8), "ink", 4.0))
    return Scene(max(wide, words.width), 34, (*bar, words))


def counter_text(reel: Reel, number: int) -> str:
    """`moment 12 of 105 · 30 of 36 touches found their line in a cache of 16 lines of 16 bytes`."""
    hits, touches = reel.hits(number)
    cache = f"{number_of(reel.cache.lines, 'line')} of {number_of(reel.cache.line, 'byte')}"
    return (
        f"moment {number + 1} of {len(reel.shots)} · {hits:,} of {number_of(touches, 'touch', 'touches')} "
        f"found their line in a cache of {cache}"
    )
