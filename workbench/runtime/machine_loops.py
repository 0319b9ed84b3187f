"""The innermost loops of machine code, and what stands in them: vectors and their width, loads, spills.

A spill is a move between the stack, at
a constant place, and a register: `vmovaps [rsp+0x40], ymm3`, or an operand that a computation takes from there.  An
array on the stack that is walked through has an index beside the place and is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from workbench.records import record
from workbench.runtime.machine_code import Function, Instruction
from workbench.runtime.machine_flow import innermost_bodies

WIDTHS = {"x": 128, "y": 256, "z": 512}

_REGISTER = re.compile(r"\b([xyz])mm\d+")
_FLOAT = re.compile(
    r"^v?(add|sub|mul|div|sqrt|max|min|rcp\w*|rsqrt\w*|cmp\w*?|round|rndscale|fn?m(?:add|sub)\w*?)(\d{3})?([ps])([sdh])$"
)
_WHOLE = re.compile(r"^v?p(?:add|sub|mul\w*|madd\w*|max|min|cmp\w*|dp\w*)[bwdqu]?\w*$")
_DOTS = re.compile(r"^v?(?:p?dp\w+|tdp\w+)$")
_FUSED = re.compile(r"^v?fn?m(?:add|sub)")
_FRAME = re.compile(r"^rbp,rsp$")
_PLACE = re.compile(r"\[([^\]]*)\]")
_CONSTANT = re.compile(r"^(rsp|rbp)(?:[+-]0x[0-9a-f]+)?$")
_READS_ONLY = ("cmp", "test", "vucomis", "ucomis", "vcomis", "comis", "prefetch", "vtest", "vptest", "bt")
_BITS = {"s": 32, "d": 64, "h": 16}


@record
class MachineLoop:
    """One innermost loop.

    `lines` are those of the kernel's text that its instructions come from.  Counts are of instructions in one
    iteration: `fused` multiply-adds (dot products of bytes and of bfloat16 too), `others` that compute with numbers, of
    which `vectors` have more than one lane; `bits` is the widest register that computes (or moves, where nothing
    computes), `results` the numbers that all of them compute.  `loads` and `stores` touch memory, `spill_loads` and
    `spill_stores` are those of vector or floating-point registers at a constant place of the stack, `reloads` those of
    integer registers.
    """

    function: str
    address: int
    instructions: tuple[Instruction, ...]
    lines: tuple[int, ...]
    bits: int
    fused: int
    others: int
    vectors: int
    results: int
    loads: int
    stores: int
    spill_loads: int
    spill_stores: int
    reloads: int
    calls: tuple[str, ...] = ()

    @property
    def spills(self) -> int:
        """Moves of numbers between registers and the stack in one iteration."""
        return self.spill_loads + self.spill_stores

    @property
    def loads_per_fused(self) -> float | None:
        """Loads for each multiply-add; None where there is none."""
        return self.loads / self.fused if self.fused else None

    @property
    def vectorised(self) -> bool:
        """Whether most of what computes has more than one lane."""
        return 2 * self.vectors > self.fused + self.others

    @cached_property
    def text(self) -> str:
        """The loop as assembly."""
        return "\n".join(f"{i.address:x}: {i}" for i in self.instructions)


def innermost_loops(functions: Iterable[Function]) -> tuple[MachineLoop, ...]:
    """Every innermost loop of the functions, in the order of their code."""
    return tuple(loop for function in functions for loop in _of(function))


def _of(function: Function) -> list[MachineLoop]:
    framed = any(i.name == "mov" and _FRAME.match(i.operands) for i in function.instructions)
    return [_loop(function.name, body, framed=framed) for body in innermost_bodies(function.instructions)]


def _loop(function: str, body: list[Instruction], *, framed: bool) -> MachineLoop:
    numeric = [i for i in body if computes(i)]
    fused = [i for i in numeric if _FUSED.match(i.name) or _DOTS.match(i.name)]
    touching = [(i, *_touch(i)) for i in body]
    spilt = [(i, loads, stores) for i, loads, stores in touching if _on_stack(i, framed=framed)]
    held = [(loads, stores) for i, loads, stores in spilt if _REGISTER.search(i.operands)]
    return MachineLoop(
        function,
        body[0].address,
        tuple(body),
        tuple(sorted({i.line for i in body} - {0})),
        max(map(register_bits, numeric or body), default=0),
        len(fused),
        len(numeric) - len(fused),
        sum(lanes(i) > 1 for i in numeric),
        sum(lanes(i) for i in numeric),
        sum(loads for _, loads, _ in touching),
        sum(stores for _, _, stores in touching),
        sum(loads for loads, _ in held),
        sum(stores for _, stores in held),
        len(spilt) - len(held),
        tuple(i.operands.partition("<")[2].removesuffix(">") or i.operands for i in body if i.name == "call"),
    )


def computes(i: Instruction) -> bool:
    """Whether an instruction does arithmetic on data; integer arithmetic counts in vector registers only."""
    return bool(_FLOAT.match(i.name) or _DOTS.match(i.name) or (_WHOLE.match(i.name) and _REGISTER.search(i.operands)))


def lanes(i: Instruction) -> int:
    """How many numbers an instruction computes at once."""
    if found := _FLOAT.match(i.name):
        return register_bits(i) // _BITS[found[4]] if found[3] == "p" else 1
    return max(1, register_bits(i) // 32)


def register_bits(i: Instruction) -> int:
    """The widest vector register of an instruction."""
    return max((WIDTHS[r] for r in _REGISTER.findall(i.operands)), default=0)


def _touch(i: Instruction) -> tuple[int, int]:
    """(loads, stores) of an instruction.  The first operand in Intel's order is the one written."""
    if "[" not in i.operands or i.name.startswith(("lea", "nop", "prefetch", "call", "j")):
        return 0, 0
    first = "[" in i.operands.split(",")[0]
    if not first or i.name.startswith(_READS_ONLY):
        return 1, 0
    changes = not i.name.startswith(("mov", "vmov", "vpscatter", "vscatter", "vextract", "vpextr", "set", "vcvtps2ph"))
    return int(changes), 1


def _on_stack(i: Instruction, *, framed: bool) -> bool:
    place = _PLACE.search(i.operands)
    found = place and _CONSTANT.match(place[1].replace(" ", ""))
    return bool(found and (found[1] == "rsp" or framed) and _touch(i) != (0, 0))
