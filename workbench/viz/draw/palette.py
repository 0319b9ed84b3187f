"""Colours by role, for light and dark grounds, as CSS variables with literal fallbacks.

Statements and arrays have theirs by number: `statement_role`, `array_role`, and shapes and glyphs that say the same.
The first six of the statements follow Okabe and Ito's set, darkened on white so that thin lines keep a contrast of 3:1
and text of 4.5:1; the others are as far from all before as these contrasts leave room for (distances in Oklab:
Ottosson, 2020); on a dark ground none has a contrast below 6:1, or it would look switched
off beside the first.  Red is kept for what is wrong.  Arrays have colours of their own and open shapes, statements
full ones: no colour stands for both.  A shape and a line pattern always say the same as the colour.

A name keeps the number that it had when it first appeared, in the operator's program or after a step
(`statement_numbers`, `array_numbers`): a copy, a buffer or a partial result that a step adds comes behind all that were
there, wherever it stands in the order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from workbench.poly.programs.program import Program

Theme = Literal["light", "dark", "auto"]

# Role → (on white, on dark).
COLOURS = {
    "ground": ("#ffffff", "#16191d"),
    "ink": ("#1f2328", "#e6e9ec"),
    "soft": ("#5b636d", "#a3abb5"),
    "grid": ("#d5dae0", "#3a4048"),
    "panel": ("#f5f7f9", "#20252b"),
    "bad": ("#c8102e", "#ff7373"),
    "s0": ("#0067a8", "#5ab8f2"),
    "s1": ("#b35c00", "#f0a63a"),
    "s2": ("#00795a", "#3ccf9f"),
    "s3": ("#98398f", "#e795cf"),
    "s4": ("#6b6000", "#d9cb55"),
    "s5": ("#0b7a86", "#6fdbe6"),
    "s6": ("#001a81", "#3aa9a4"),
    "s7": ("#8558e2", "#b788ce"),
    "s8": ("#174544", "#7cf690"),
    "s9": ("#7233bb", "#f29f95"),
    "s10": ("#1e3603", "#98b77b"),
    "s11": ("#904527", "#c98d5b"),
    "s12": ("#0e861e", "#78c342"),
    "s13": ("#2f63e1", "#c6c2fe"),
    "s14": ("#5d435a", "#f77f0c"),
    "s15": ("#1b5274", "#0ab060"),
    "s16": ("#856851", "#ffd88e"),
    "s17": ("#504f2e", "#93a31a"),
    "a0": ("#2a2fd0", "#a9a2ff"),
    "a1": ("#6b3322", "#d8c3b0"),
    "a2": ("#c012b0", "#f06bb5"),
    "a3": ("#1d5a10", "#a8d67d"),
    "a4": ("#56627a", "#9db0c9"),
    "a5": ("#5b2a75", "#c77dff"),
    "a6": ("#895d85", "#d961d2"),
    "a7": ("#005b4a", "#53efca"),
    "a8": ("#8c0553", "#fcbcd5"),
    "keyword": ("#8a2a86", "#dd9be0"),
    "type": ("#005f87", "#79c4ee"),
    "comment": ("#5b6b60", "#93a699"),
    "number": ("#8a4b00", "#e8b06a"),
    "directive": ("#7a5300", "#d9b96a"),
    "loop": ("#0067a8", "#5ab8f2"),
}
SHAPES = ("disc", "square", "diamond", "triangle", "ring", "cross")
GLYPHS = "●■◆▲○✚"
ARRAY_SHAPES = ("open square", "open diamond", "open triangle", "bar")
ARRAY_GLYPHS = "□◇△▬"
STATEMENT_COLOURS, ARRAY_COLOURS = 18, 9
ROUND = 6  # numbers after which marks turn; the first six colours are told apart without one kind of cones


def statement_role(position: int) -> str:
    """The colour role of the n-th statement of a program; eighteen are different."""
    return f"s{position % STATEMENT_COLOURS}"


def array_role(position: int) -> str:
    """The colour role of the n-th array of a program, of which nine are different; never that of a statement."""
    return f"a{position % ARRAY_COLOURS}"


def shape(position: int) -> str:
    """The marker of the n-th statement: with its colour 36 are told apart."""
    return SHAPES[_turned(position, len(SHAPES))]


def glyph(position: int) -> str:
    """The marker of the n-th statement as a character."""
    return GLYPHS[_turned(position, len(GLYPHS))]


def array_shape(position: int) -> str:
    """The marker of the n-th array: open, where a statement's is full; with its colour 24 are told apart."""
    return ARRAY_SHAPES[_turned(position, len(ARRAY_SHAPES))]


def array_glyph(position: int) -> str:
    """The marker of the n-th array as a character."""
    return ARRAY_GLYPHS[_turned(position, len(ARRAY_GLYPHS))]


def _turned(position: int, forms: int) -> int:
    """Which form comes at a position: one further with each round of six, so that pairs with a colour repeat late."""
    return (position + position // ROUND) % forms


def colour(role: str, theme: Theme) -> str:
    """The literal colour of a role (the light one where the theme is not fixed)."""
    return COLOURS[role][1 if theme == "dark" else 0]


def variables(theme: Theme) -> str:
    """CSS that defines `--wb-<role>` for everything of class `wb`, following the reader's theme when it is "auto"."""
    if theme != "auto":
        return f".wb{{{_values(theme)}}}"
    dark, light = _values("dark"), _values("light")
    return (
        f".wb{{{light}}}"
        f"@media (prefers-color-scheme:dark){{.wb{{{dark}}}}}"
        f"{_selector(_LIGHT)}{{{light}}}{_selector(_DARK)}{{{dark}}}"
    )


# How notebooks and documentation sites say which theme they show.
_DARK = ("[data-jp-theme-light=false]", ".vscode-dark", "html[theme=dark]", "[data-theme=dark]", ".dark-theme")
_LIGHT = ("[data-jp-theme-light=true]", ".vscode-light", "html[theme=light]", "[data-theme=light]")


def _selector(hosts: tuple[str, ...]) -> str:
    return ",".join(f"{host} .wb" for host in hosts)


def _values(theme: Theme) -> str:
    return ";".join(f"--wb-{role}:{colour(role, theme)}" for role in COLOURS)


def statement_numbers(program: Program) -> dict[str, int]:
    """Name of a statement → its number; also of those that are gone by now."""
    return _counted(statement.name for before in _history(program) for statement in before.statements)


def array_numbers(program: Program) -> dict[str, int]:
    """Name of an array → its number; also of those that are gone by now."""
    return _counted(name for before in _history(program) for name in before.arrays)


def _counted(names: Iterator[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _history(program: Program) -> list[Program]:
    """The operator's program, then what each step made of it, up to this one."""
    found = [program]
    while found[-1].parent is not None:
        found.append(found[-1].parent)
    return found[::-1]
