"""Faults planted into generated CUDA text by rule, as a tired programmer makes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from workbench.codegen.kernel import Kernel

BARRIER = "__syncthreads();"
START = r"\s*(?:wb_copy_async\(&|\*\(\w+ \*\)&)?"
MOVED = r"\](?: = |, &)(?:\*\(const \w+ \*\)&)?"
# An element, or several side by side, that becomes another one, or a part of one: `A_tile[…] = A_w.x;`.
TARGET = re.compile(rf"^({START}\w+\[)(.*?)({MOVED}\w+(?:\[[^\[\]]*\](?:, \d+\))?|\.\w);)$")
SOURCE = re.compile(rf"^({START}\w+\[.*?{MOVED}\w+\[)([^\[\]]*)(\](?:, \d+\))?;)$")
LOADED = re.compile(r"^(\s*const \w+ \w+ = \*\(const \w+ \*\)&\w+\[)(.*?)(\];)$")
BOUND = re.compile(r"( < [^;]+?)(; \w+(?:\+\+| \+= ))")
GUARD = re.compile(r"^(\s*if \(.* (?:<|<=) .*)(\) \{)$")


@dataclass(frozen=True)
class Mutant:
    """A kernel with a fault in `line`."""

    fault: str
    line: int
    kernel: Kernel

    def __str__(self) -> str:
        return f"{self.fault}, line {self.line}: {self.kernel.source.split(chr(10))[self.line - 1].strip()}"


def mutants(kernel: Kernel) -> Iterator[Mutant]:
    """Each barrier removed, each put under a condition, each copy's subscripts shifted, each bound one more."""
    lines = kernel.source.split("\n")
    start = max(n for n, line in enumerate(lines) if line == "#endif")
    for n in range(start, len(lines)):
        for fault, text in _faults(lines[n]):
            source = "\n".join((*lines[:n], text, *lines[n + 1 :]))
            yield Mutant(fault, n + 1, replace(kernel, source=source))


def _faults(line: str) -> Iterator[tuple[str, str]]:
    if line.strip() == BARRIER:
        yield "barrier removed", ""
        yield "barrier under a condition", line.replace(BARRIER, f"if (threadIdx.x != 1) {BARRIER}")
    apart = 4 if "4 *)" in line else 1  # a wide access stays where such accesses may be
    if found := TARGET.match(line):
        yield "copied to another place", f"{found[1]}{found[2]} + {apart}{found[3]}"
    if found := SOURCE.match(line) or LOADED.match(line):
        yield "copied from another place", f"{found[1]}{found[2]} + {apart}{found[3]}"
    if BOUND.search(line) and "for (" in line:
        yield "bound loosened", BOUND.sub(r"\1 + 1\2", line, count=1)
    if found := GUARD.match(line):
        yield "condition loosened", f"{found[1]} + 1{found[2]}"
