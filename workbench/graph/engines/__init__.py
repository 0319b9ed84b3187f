"""Engines: parts of a model that something else computes; who takes what, at which cost, and what came of it.

A name is loaded from its module on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.face import deferred

if TYPE_CHECKING:
    from workbench.graph.engines.engine_records import Engine, engine
    from workbench.graph.engines.partitioning import partition
    from workbench.graph.engines.partitions import Partition
    from workbench.graph.engines.patterns import Pattern, pattern
    from workbench.graph.engines.saving_partitions import load, save
    from workbench.graph.engines.sites import Site
    from workbench.graph.engines.subgraphs import Subgraph

# Public name → the submodule that has it.
NAMES = {
    "Engine": "engine_records",
    "Partition": "partitions",
    "Pattern": "patterns",
    "Site": "sites",
    "Subgraph": "subgraphs",
    "engine": "engine_records",
    "load": "saving_partitions",
    "partition": "partitioning",
    "pattern": "patterns",
    "save": "saving_partitions",
}

__all__ = ["Engine", "Partition", "Pattern", "Site", "Subgraph", "engine", "load", "partition", "pattern", "save"]

__getattr__ = deferred(__name__, NAMES)
