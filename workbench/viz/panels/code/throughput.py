"""What llvm-mca says of the innermost loops of assembly: cycles an iteration, and what each instruction takes."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence

from workbench.errors import BuildError
from workbench.records import record
from workbench.target import Target
from workbench.wording import number_of

MCA = "llvm-mca"
SECONDS = 20
MOST_LOOPS = 4
STAND_IN = "icelake-server"
"""Of x86, a processor whose model has all instructions that kernels use."""

LONGEST = 400  # instructions of a loop that are simulated
ITERATIONS = 100

_LABEL = re.compile(r"^([\w.$]+):")
_JUMP = re.compile(r"^\s+(?:j\w+|b\.?\w{0,4}|cbn?z|tbn?z)\s+(?:.*,\s*)?(\.?[\w$]+)\s*$")
_SUMMARY = re.compile(r"^(Instructions|Total Cycles|Total uOps|IPC|Block RThroughput):\s+(\S+)", re.MULTILINE)
_HEAD = re.compile(r"^\[1\]\s+\[2\].*$", re.MULTILINE)

Row = tuple[str, int]


@record
class InnerLoop:
    """Rows of assembly from a label to the jump back to it, with no other loop inside."""

    label: str
    rows: tuple[Row, ...]

    @property
    def instructions(self) -> tuple[Row, ...]:
        """The rows without labels."""
        return tuple(row for row in self.rows if not _LABEL.match(row[0]))


def inner_loops(rows: Sequence[Row]) -> list[InnerLoop]:
    """The loops without loops inside, those with the most instructions first."""
    labels = {found[1].lstrip("."): i for i, (text, _) in enumerate(rows) if (found := _LABEL.match(text))}
    spans = []
    for end, (text, _) in enumerate(rows):
        target = _JUMP.match(text)
        begin = labels.get(target[1].lstrip("."), end) if target else end
        if begin < end:
            spans.append((begin, end))
    inner = [a for a in spans if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in spans)]
    found = [InnerLoop(rows[a][0].rstrip(":"), tuple(rows[a : b + 1])) for a, b in dict.fromkeys(inner)]
    return sorted(found, key=lambda loop: -len(loop.instructions))


def throughput(rows: Sequence[Row], target: Target) -> tuple[str, tuple[Row, ...]]:
    """(what made it, rows) of the largest innermost loops; BuildError where llvm-mca is missing or understands none."""
    tool = shutil.which(MCA)
    if tool is None:
        raise BuildError("llvm-mca is not found: apt install llvm, or conda install -c conda-forge llvm-tools")
    loops = [loop for loop in inner_loops(rows) if len(loop.instructions) <= LONGEST][:MOST_LOOPS]
    if not loops:
        raise BuildError("the compiler left no loop in this kernel: llvm-mca says what an iteration of one takes")
    own = "native" if target.march == "native" else target.march
    processor, answers = own, [_asked(tool, loop, own) for loop in loops]
    if any(isinstance(answer, str) for _, answer in answers):
        processor, answers = STAND_IN, [_asked(tool, loop, STAND_IN) for loop in loops]
    found = [row for loop, (text, answer) in zip(loops, answers, strict=True) for row in _told(loop, text, answer)]
    of = processor if processor == own else f"{processor}, as {MCA} has no complete model of {own}"
    return f"{MCA} -mcpu={of}", tuple(found)


def _asked(tool: str, loop: InnerLoop, processor: str) -> tuple[str, dict[str, str] | str]:
    """What it says of a loop, with its summary, or why there is none."""
    text = "\n".join(row for row, _ in loop.instructions) + "\n"
    command = (tool, f"-mcpu={processor}", f"-iterations={ITERATIONS}", "-resource-pressure=false", "-")
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)
    summary = dict(_SUMMARY.findall(done.stdout))
    if done.returncode or "Total Cycles" not in summary:
        return "", done.stderr.strip()[:300]
    return done.stdout, summary


def _told(loop: InnerLoop, text: str, summary: dict[str, str] | str) -> Iterator[Row]:
    """A summary, then the table of instructions as llvm-mca writes it."""
    if isinstance(summary, str):
        raise BuildError(f"{MCA} does not understand the loop at {loop.label}: {summary}")
    cycles = float(summary["Total Cycles"]) / ITERATIONS
    place = max((of for _, of in loop.rows), default=0)
    yield f"{loop.label}: {cycles:.2f} cycles an iteration, at best {summary['Block RThroughput']}", place
    yield f"    {number_of(len(loop.instructions), 'instruction')}, {summary['IPC']} a cycle", place
    yield from _table(text, loop)


def _table(text: str, loop: InnerLoop) -> Iterator[Row]:
    head = _HEAD.search(text)
    if head is None:
        return
    yield "    uops latency 1/throughput", 0
    for line, (_, place) in zip(text[head.end() :].strip("\n").splitlines(), loop.instructions, strict=False):
        numbers = line.split()[:3]
        columns = " ".join(n.rjust(wide) for n, wide in zip(numbers, (4, 7, 12), strict=False))
        yield f"    {columns}  {_after(line)}".rstrip(), place


def _after(line: str) -> str:
    """The instruction at the end of a row of the table."""
    return re.sub(r"^[\s\d.*U]+", "", line).replace("\t", " ")
