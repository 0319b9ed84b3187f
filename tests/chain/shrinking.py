"""A wrong kernel's program made smaller while it stays wrong: lines and blocks left out, loops shortened."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

from tests.chain.chain import REFUSALS, Wrong, judged, kernel_of
from tests.chain.subjects import of_text
from tests.properties.batches import Compiler
from tests.properties.inputs import Problem, problem
from tests.properties.ways import Way, lowered
from workbench import schedules
from workbench.schedules import Schedule
from workbench.schedules.recipes import default_schedule

TRIES = 60


def shrunk(wrong: Wrong, folder: Path) -> str:
    """The smallest text found that is still wrong in the order of the text or under the default recipe."""
    text, made = wrong.way.problem.case.text, wrong.way.problem
    if not _is_wrong(made, wrong.compiler, folder):
        return "(it takes the schedule above to show it)"
    tries = TRIES
    while tries > 0:
        for smaller in candidates(text):
            tries -= 1
            again = problem_of(smaller, made)
            if again is not None and _is_wrong(again, wrong.compiler, folder):
                text, made = smaller, again
                break
            if tries <= 0:
                break
        else:
            break
    return f"shrunk to:\n{text}\n# {made.sizes}"


def candidates(text: str) -> Iterator[str]:
    """The text without a block, without a line, with an operand in place of an operation, with a shorter loop."""
    lines = text.split("\n")
    for at, line in enumerate(lines[1:-1], 1):
        if line.rstrip().endswith("{") and (end := _end(lines, at)) > at:
            yield "\n".join([*lines[:at], *lines[end + 1 :]])
            yield "\n".join([*lines[:at], *lines[at + 1 : end], *lines[end + 1 :]])
    for at, line in enumerate(lines[1:-1], 1):
        if line.strip() and not line.rstrip().endswith(("{", "}")):
            yield "\n".join([*lines[:at], *lines[at + 1 :]])
    for found in re.finditer(r"\(([^()?]+) [^\w\s()?]{1,2} ([^()?]+)\)", text):
        for operand in (found[1], found[2]):
            yield text[: found.start()] + operand + text[found.end() :]


def _end(lines: list[str], start: int) -> int:
    depth = 0
    for at in range(start, len(lines)):
        depth += lines[at].count("{") - lines[at].count("}")
        if depth <= 0:
            return at
    return start


def problem_of(text: str, like: Problem) -> Problem | None:
    """A smaller text on the same data; None where it is no program, or looks at an array of which none is known."""
    try:
        if like.op.language != "c":
            return problem(replace(like.case, text=text), Random(0))
        return of_text(text, {**like.sizes, **like.values})
    except (*REFUSALS, AssertionError, KeyError):
        return None


def _is_wrong(made: Problem, compiler: Compiler, folder: Path) -> bool:
    """Whether it is wrong in the order of the text, or as the default recipe has it."""
    try:
        program = lowered(made, {}, symbolic=False)
        orders: dict[str, Schedule] = {
            "naive": schedules.schedule(program), "default": default_schedule(program, compiler.target)
        }  # fmt: skip
        kernels = {n: kernel_of(f"shrunk_{n}", s, compiler.target, unchecked=False) for n, s in orders.items()}
    except Exception:
        return False
    found = [(0, Way(name, made, kernel, {})) for name, kernel in kernels.items()]
    number = len(list(folder.glob("shrunk*.c")))  # a library that is loaded must not be written again
    return bool(judged(found, compiler, folder / f"shrunk{number}_", Counter()))
