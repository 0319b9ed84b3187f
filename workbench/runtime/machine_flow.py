"""The natural loops of machine code: blocks, who dominates whom, and the bodies that jumps back close.

Compilers move blocks out of line, so a loop is no range of addresses (Aho, Lam, Sethi, Ullman 2006, §9.6).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from workbench.runtime.machine_code import Instruction

Block = list[Instruction]
ENDS = ("ret", "ud2", "hlt", "retq", "jmp")


def innermost_bodies(instructions: Sequence[Instruction]) -> list[list[Instruction]]:
    """The instructions of each natural loop that has no other inside, in the order of their addresses."""
    blocks = blocks_of(instructions)
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


def blocks_of(instructions: Sequence[Instruction]) -> list[Block]:
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
