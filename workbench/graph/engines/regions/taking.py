"""What engines take: the calls of a block that an engine's patterns and predicate accept, and why not the others."""

from __future__ import annotations

from workbench.graph.engines.engine_records import Engine
from workbench.graph.engines.patterns import Matching
from workbench.graph.engines.regions.blocks import Block, Mask
from workbench.graph.terms.nodes import Term
from workbench.records import record


@record(eq=False)
class Taken:
    """What an engine takes of a block: sets of calls that stay together, with their patterns, and why not the rest."""

    engine: Engine
    atoms: tuple[tuple[Mask, str], ...]
    reasons: dict[Term, str]

    @property
    def mask(self) -> Mask:
        """All calls that it takes."""
        return sum(mask for mask, _ in self.atoms)

    def covers(self, mask: Mask) -> bool:
        """Whether a set of calls is made of whole atoms."""
        found = 0
        for atom, _ in self.atoms:
            if atom & mask:
                found |= atom
        return found == mask


def taken(block: Block, engine: Engine) -> Taken:
    """What an engine takes: for each call, from the last to the first, the first of its patterns that fits."""
    refusals = {node: reason for node, site in block.sites.items() if (reason := engine.refusal(site))}
    if engine.patterns is None:
        atoms = [(block.mask([node]), site.name) for node, site in block.sites.items() if node not in refusals]
        return Taken(engine, tuple(atoms), refusals)
    matching, covered = Matching(block.sites, block.uses), 0
    found: list[tuple[Mask, str]] = []
    for wanted in engine.patterns:
        for node in reversed(block.nodes):
            calls = matching.found(wanted, node)
            if calls is None or any(each in refusals for each in calls):
                continue
            mask = block.mask(calls)
            if not mask & covered and block.is_convex(mask):
                covered |= mask
                found.append((mask, str(wanted)))
    missing = {node: "no pattern of it fits" for node in block.sites if not covered & block.mask([node])}
    return Taken(engine, tuple(found), {**missing, **refusals})
