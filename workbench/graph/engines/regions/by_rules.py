"""Regions by rules: each call goes to the first engine that takes it, then neighbours of one engine are merged.

This is what TVM's BYOC does (`MergeComposite`, `AnnotateTarget`, `MergeCompilerRegions`; Chen et al., 2021).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.graph.engines.engine_records import Engine
from workbench.graph.engines.regions.blocks import Block, Mask
from workbench.graph.engines.regions.taking import Taken
from workbench.graph.memory.ordering import bits
from workbench.records import record


@record(eq=False)
class Region:
    """Calls of a block that one engine computes at once, and why they are together."""

    block: Block
    mask: Mask
    engine: Engine
    reason: str

    def __len__(self) -> int:
        return self.mask.bit_count()


def by_rules(block: Block, engines: Sequence[Taken]) -> list[Region]:
    """Regions in the order of preference of the engines, as large as the rules make them."""
    free = block.mask(block.sites)
    masks: list[Mask] = []
    owner: dict[int, Taken] = {}
    for each in engines:
        for mask, _ in each.atoms:
            if mask & free == mask:
                free &= ~mask
                masks.append(mask)
                owner |= dict.fromkeys(bits(mask), each)
    masks = _without_cycles(block, masks)
    found = [(owner[first(mask)], mask) for mask in merged(block, masks, owner)]
    return [Region(block, mask, of.engine, _reason(of, mask)) for of, mask in found]


def _reason(of: Taken, mask: Mask) -> str:
    names = list(dict.fromkeys(pattern for atom, pattern in of.atoms if atom & mask))
    return f"the first engine that takes {', '.join(names)}"


def first(mask: Mask) -> int:
    """The place of the first node of a set."""
    return (mask & -mask).bit_length() - 1


def _without_cycles(block: Block, masks: list[Mask]) -> list[Mask]:
    """The sets without those that wait for each other: atoms of several calls may."""
    while wrong := block.cycle(masks):
        masks = [mask for at, mask in enumerate(masks) if at not in wrong]
    return masks


def merged(block: Block, masks: Sequence[Mask], owner: Mapping[int, object]) -> list[Mask]:
    """Sets whose nodes have one owner, merged along the edges of the block, in its order, where no cycle arises."""
    home = {at: mask for mask in masks for at in bits(mask)}
    for at in range(len(block.nodes)):
        if at not in home:
            continue
        for before in bits(block.direct[at]):
            here, other = home[at], home.get(before)
            if other is None or other == here or owner[before] is not owner[at]:
                continue
            together = here | other
            rest = [mask for mask in dict.fromkeys(home.values()) if mask not in (here, other)]
            if block.is_convex(together) and block.is_acyclic([*rest, together]):
                home |= dict.fromkeys(bits(together), together)
    return list(dict.fromkeys(home.values()))
