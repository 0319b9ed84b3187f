"""The innermost loops of machine code, and what stands in them: vectors and their width, loads, spills.

A spill is a move between the stack, at
a constant place, and a register: `vmovaps [rsp+0x40], ymm3`, or an operand that a computation takes from there.  An
array on the stack that is walked through has an index beside the place and is none.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

from workbench.records import record
from workbench.runtime.measuring.machine_code import Function, Instruction

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
        sum(instruction_lanes(i) > 1 for i in numeric),
        sum(instruction_lanes(i) for i in numeric),
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


def instruction_lanes(i: Instruction) -> int:
    """How many numbers an instruction computes at once."""
    if found := _FLOAT.match(i.name):
        return register_bits(i) // _BITS[found[4]] if found[3] == "p" else 1
    return max(1, register_bits(i) // 32)


def register_bits(i: Instruction) -> int:
    """The widest vector register of an instruction."""
    return _widest(i.operands)


@lru_cache(maxsize=1 << 14)
def _widest(operands: str) -> int:
    """The same, of operands that are asked for again and again."""
    return max((WIDTHS[r] for r in _REGISTER.findall(operands)), default=0)


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


# -- The natural loops of machine code: blocks, who dominates whom, and the bodies that jumps back close --
# Compilers move blocks out of line, so a loop is no range of addresses (Aho, Lam, Sethi, Ullman 2006, §9.6).

Block = list[Instruction]
ENDS = ("ret", "ud2", "hlt", "retq", "jmp")


def innermost_bodies(instructions: Sequence[Instruction]) -> list[list[Instruction]]:
    """The instructions of each natural loop that has no other inside, in the order of their addresses."""
    blocks = _blocks_of(instructions)
    after = _successors(blocks)
    before = _predecessors(after)
    above = _dominators(before)
    heads: dict[int, set[int]] = {}
    for source, targets in enumerate(after):
        for head in targets:
            if above[source] >> head & 1:
                heads.setdefault(head, set()).update(_body(source, head, before))
    bodies = list(heads.values())
    inner = [b for b in bodies if not any(o < b for o in bodies)]
    return [[i for n in sorted(body) for i in blocks[n]] for body in sorted(inner, key=min)]


def _blocks_of(instructions: Sequence[Instruction]) -> list[Block]:
    """Straight pieces: one begins where something jumps to, and after what jumps or ends.

    What only fills the room between an end and the next piece is left out: nobody comes there.
    """
    targets = {i.target for i in instructions if i.target is not None}
    blocks: list[Block] = []
    new = True
    for i in instructions:
        behind_an_end = bool(blocks) and new and blocks[-1][-1].name in ENDS
        if behind_an_end and i.address not in targets and _fills(i):
            continue
        if new or i.address in targets:
            blocks.append([])
        blocks[-1].append(i)
        new = i.name.startswith("j") or i.name in ENDS
    return blocks


def _fills(i: Instruction) -> bool:
    """Whether an instruction does nothing: `nop`, with prefixes or without."""
    return "nop" in (i.name, *i.operands.split()) or (i.name, i.operands) == ("xchg", "ax,ax")


def _successors(blocks: Sequence[Block]) -> list[list[int]]:
    starts = [b[0].address for b in blocks]
    found: list[list[int]] = []
    for n, block in enumerate(blocks):
        last = block[-1]
        through = [n + 1] if last.name not in ENDS and n + 1 < len(blocks) else []
        jump = [] if last.target is None else [bisect_right(starts, last.target) - 1]
        found.append([*through, *jump])
    return found


def _predecessors(after: Sequence[Sequence[int]]) -> list[list[int]]:
    before: list[list[int]] = [[] for _ in after]
    for source, targets in enumerate(after):
        for target in targets:
            before[target].append(source)
    return before


def _dominators(before: Sequence[Sequence[int]]) -> list[int]:
    """For each block the blocks (bits) through which every way from the entry to it goes."""
    everything = (1 << len(before)) - 1
    above = [everything] * len(before)
    changed = True
    while changed:
        changed = False
        for n, sources in enumerate(before):
            # A block that nothing here jumps to (the entry, or one of an indirect jump) is a beginning.
            common = everything if sources else 0
            for source in sources:
                common &= above[source]
            found = 1 << n | (0 if n == 0 else common)
            if found != above[n]:
                above[n], changed = found, True
    return above


def _body(source: int, head: int, before: Sequence[Sequence[int]]) -> set[int]:
    """Blocks from which the jump back can be reached without passing the head."""
    body, waiting = {head, source}, [source]
    while waiting:
        now = waiting.pop()
        if now == head:
            continue
        new = [n for n in before[now] if n not in body]
        body.update(new)
        waiting += new
    return body
