"""Run a folder of C files and operator texts through the workbench, and print what became of each.

    python tools/foreign_programs.py FOLDER [--seconds 60] [--no-isl] [--own-sizes]

Files ending in .c are read by `wb.from_c`, each of their regions by itself; .tc and .txt as operators, each def by
itself.  What is raised is computed at small sizes with the naive schedule, the default one and isl's, and compared
with its own text, compiled in its order (C), or with the NumPy oracle.  Macros such as `#define N 4000` become
small numbers in the same order (`--own-sizes` leaves them).  The exit status is 1 if a result is wrong.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.fromc.text.regions import text_regions
from workbench.fromc.text.source import without_comments
from workbench.lang import operators
from workbench.ops.samples import sample_arrays, sample_out

KINDS = {".c": "C", ".tc": "operators", ".txt": "operators"}
LARGEST = 24
SCHEDULES = ("naive", "default", "isl")


class Row(NamedTuple):
    """What became of one program: `results` has a word for each schedule that was tried."""

    name: str
    raised: str
    results: dict[str, str]
    seconds: float

    @property
    def is_wrong(self) -> bool:
        """Whether a result differed."""
        return "wrong" in self.results.values()


def programs(folder: Path) -> Iterator[Path]:
    """The files that are read, in order."""
    return (path for path in sorted(folder.rglob("*")) if path.suffix in KINDS and path.is_file())


def pieces(path: Path) -> list[str]:
    """The names of a file's regions or defs, an empty one where it is taken as a whole."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".c":
        try:
            found = [r.name for r in text_regions(without_comments(text))]
        except Exception:  # because reading the program says what is wrong
            found = []
        return found if len(found) > 1 else [""]
    try:
        return list(operators(text)) or [""]
    except WorkbenchError:
        return [""]


def small(text: str) -> str:
    """The text with small numbers for the large ones that macros name, in the same order.

    >>> small("#define N 2000\\n#define M (4000)\\n#define K 3\\n")
    '#define N 11\\n#define M (12)\\n#define K 3\\n'
    """
    pattern = re.compile(r"(?m)^([ \t]*#[ \t]*define[ \t]+\w+[ \t]+\(?)(\d+)([uUlL]*\)?[ \t]*(?://.*|/\*.*)?)$")
    large = sorted({int(m[2]) for m in pattern.finditer(text) if int(m[2]) > LARGEST})
    numbers = {value: 11 + place for place, value in enumerate(large)}
    return pattern.sub(lambda m: f"{m[1]}{numbers.get(int(m[2]), m[2])}{m[3]}", text)


# -- in a process of its own


def tried(path: Path, piece: str, *, isl: bool, own_sizes: bool) -> Iterator[dict[str, Any]]:
    """Facts about one program as they become known: whether it is raised, then a word for each schedule."""
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        if path.suffix == ".c":
            program: Any = wb.from_c(text if own_sizes else small(text), region=piece)
            operator = program.original.definition
        else:
            found = operators(text)[piece] if piece else wb.operator(text)
            program = operator = wb.lang.astype(found, "float32") if found.generic else found
    except WorkbenchError as error:
        yield {"raised": f"refused: {reason(str(error))}"}
        return
    yield {"raised": "raised"}
    given = arguments(program, operator)
    if isinstance(given, str):
        yield {"naive": given}
        return
    for name in SCHEDULES if isl else SCHEDULES[:2]:
        yield {name: outcome(program, name, given)}


def reason(message: str) -> str:
    """The first thing a message says, with the place."""
    lines = [line for line in message.splitlines() if line.strip() and not re.match(r"\d+ errors", line)]
    return lines[0] if lines else message


class Given(NamedTuple):
    """Arguments at which the oracle has an answer, and that answer."""

    sizes: dict[str, int]
    arrays: tuple[Any, ...]
    out: Any
    expected: tuple[Any, ...]


def arguments(program: Any, operator: Any) -> Given | str:
    """Small random data that fit the program; or why there are none."""
    names = list(dict.fromkeys([*operator.size_names, *operator.scalars]))
    why = ""
    for sizes in _sizes(names):
        try:
            arrays, out = sample_arrays(operator, **sizes), sample_out(operator, **sizes)
            known = {n: v for n, v in sizes.items() if n in operator.size_names}
            oracle = wb.evaluate_c if operator.language == "c" else operator.evaluate
            found = oracle(program, *arrays, out=out, **known) if operator.language == "c" else oracle(
                *arrays, out=out, **known)  # fmt: skip
            return Given(known, arrays, out, found if isinstance(found, tuple) else (found,))
        except WorkbenchError as error:
            why = why or reason(str(error))
    return f"no data fit: {why}"


def _sizes(names: list[str]) -> Iterator[dict[str, int]]:
    """Candidates: different sizes, equal ones, and lengths that leave room for sums of subscripts."""
    yield {n: 7 + 2 * (k % 4) for k, n in enumerate(names)}
    for least, room in itertools.product((9, 6, 3, 2, 1), (0, 3, 9, 40, 90)):
        lengths = {n: least * least + room for n in names if n.endswith("_length") or re.search(r"_\d$", n)}
        yield {n: lengths.get(n, least) for n in names}
    for least in (4, 12, 16):
        yield {n: least * (1 + k % 3) for k, n in enumerate(names)}


def outcome(program: Any, name: str, given: Given) -> str:
    """`right` or `wrong`, or why a schedule was not run."""
    try:
        sizes = given.sizes if name == "default" else {}
        made = wb.schedule(program) if name == "naive" else wb.autoschedule(program, sizes=sizes) if name == "default" \
            else wb.autoschedule(program, fusion="default", sizes=given.sizes)  # fmt: skip
        kernel = wb.build(made, debug=name == "naive")
        out = _copied(given.out)
        computed = kernel(*given.arrays, out=out, **given.sizes)
        found = computed if isinstance(computed, tuple) else (computed,)
        same = all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
                   for a, b in zip(map(np.asarray, found), map(np.asarray, given.expected), strict=True))  # fmt: skip
        return "right" if same or wb.verify(kernel, *given.arrays, out=given.out, **given.sizes) else "wrong"
    except WorkbenchError as error:
        return f"{type(error).__name__}: {reason(str(error))}"


def _copied(out: Any) -> Any:
    return tuple(map(_copied, out)) if isinstance(out, tuple) else None if out is None else np.array(out)


# -- the table


def row(folder: Path, path: Path, piece: str, options: argparse.Namespace) -> Row:
    """What a child process found out about one program before it ended or its time did."""
    name = f"{path.relative_to(folder)}{f' [{piece}]' if piece else ''}"
    flags = ["--no-isl"] * options.no_isl + ["--own-sizes"] * options.own_sizes
    command = [sys.executable, __file__, str(path), "--piece", piece, *flags, "--child"]
    started = time.perf_counter()
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=options.seconds, check=False)
        output, ending = run.stdout, "" if run.returncode == 0 else f"crashed: {run.stderr.strip()[-300:]}"
    except subprocess.TimeoutExpired as expired:
        printed = expired.stdout or b""
        output = printed.decode() if isinstance(printed, bytes) else printed
        ending = f"not within {options.seconds:g} s"
    facts: dict[str, str] = {}
    for line in output.splitlines():
        facts |= json.loads(line)
    raised = facts.pop("raised", ending or "nothing was said")
    if ending and raised == "raised":
        facts[next((s for s in SCHEDULES if s not in facts), SCHEDULES[-1])] = ending
    return Row(name, raised, facts, time.perf_counter() - started)


def table(rows: list[Row]) -> str:
    """One line a program, then how many were raised, refused, right and wrong."""
    width = max((len(r.name) for r in rows), default=4)
    lines = [f"{'program':{width}}  {'seconds':>7}  what became of it"]
    for r in rows:
        said = r.raised if r.raised != "raised" else ", ".join(f"{k} {v}" for k, v in r.results.items()) or "raised"
        lines.append(f"{r.name:{width}}  {r.seconds:7.1f}  {said}")
    words = [word for r in rows for word in r.results.values()]
    raised, refused = (sum(r.raised.startswith(word) for r in rows) for word in ("raised", "refused"))
    counted = f"{raised} raised, {refused} refused, {len(rows) - raised - refused} neither"
    right, wrong = words.count("right"), words.count("wrong")
    lines.append(f"{len(rows)} programs: {counted}; {len(words)} schedules: {right} right, {wrong} wrong, "
                 f"{len(words) - right - wrong} not run")  # fmt: skip
    return "\n".join(lines)


def main() -> int:
    """Print the table; 1 if something is wrong or crashed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0, help="for one program")
    parser.add_argument("--no-isl", action="store_true", help="leave isl's schedules out")
    parser.add_argument("--own-sizes", action="store_true", help="leave macros that name large numbers as they are")
    parser.add_argument("--piece", default="", help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        facts = tried(options.folder, options.piece, isl=not options.no_isl, own_sizes=options.own_sizes)
        for fact in facts:
            print(json.dumps(fact), flush=True)
        return 0
    rows = [row(options.folder, path, piece, options) for path in programs(options.folder) for piece in pieces(path)]
    print(table(rows))
    crashed = any("crashed" in word for r in rows for word in (r.raised, *r.results.values()))
    return 1 if crashed or any(r.is_wrong for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
