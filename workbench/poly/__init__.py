"""The polyhedral layer: programs as sets and relations, their dependences, loops and counts.

`lower` makes a Program of an Operator, `dependences` says what must stay in order, `naive_tree` and
`isl_tree` give time maps, `violations` checks one, `scan` turns one into loops; `points`, `flops`, `bytes`
and `footprint` count; `out_of_bounds` finds accesses outside.  Only `poly/sets/isl.py` imports islpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.face import deferred

if TYPE_CHECKING:
    from workbench.poly.count.counting import bytes, flops, footprint, operations, points
    from workbench.poly.count.enumeration import Pairs, dependence_pairs, instances_at, moving_dims, relation_text
    from workbench.poly.dependence.bounds import OutOfBounds, is_covered, out_of_bounds, reads_all
    from workbench.poly.dependence.equivalence import Difference, differences
    from workbench.poly.dependence.flow import dependences
    from workbench.poly.dependence.questions import band_permutable, can_parallelize, can_vectorize
    from workbench.poly.dependence.violations import Violation, violations
    from workbench.poly.lowering import lower
    from workbench.poly.regions.extents import (
        extent,
        independent,
        longest_run,
        projected,
        row_range,
        same_range,
        unguarded_reads,
    )
    from workbench.poly.regions.storage import Storage, storage_of
    from workbench.poly.scheduling.scheduler import isl_tree
    from workbench.poly.sets.isl import budget
    from workbench.poly.time.scanning import scan
    from workbench.poly.time.timemap import naive_tree

# Which submodule gives a name.
NAMES = {
    "Difference": "dependence.equivalence",
    "OutOfBounds": "dependence.bounds",
    "Pairs": "count.enumeration",
    "Storage": "regions.storage",
    "Violation": "dependence.violations",
    "band_permutable": "dependence.questions",
    "budget": "sets.isl",
    "bytes": "count.counting",
    "can_parallelize": "dependence.questions",
    "can_vectorize": "dependence.questions",
    "dependence_pairs": "count.enumeration",
    "dependences": "dependence.flow",
    "differences": "dependence.equivalence",
    "extent": "regions.extents",
    "flops": "count.counting",
    "footprint": "count.counting",
    "independent": "regions.extents",
    "instances_at": "count.enumeration",
    "is_covered": "dependence.bounds",
    "isl_tree": "scheduling.scheduler",
    "longest_run": "regions.extents",
    "lower": "lowering",
    "moving_dims": "count.enumeration",
    "naive_tree": "time.timemap",
    "operations": "count.counting",
    "out_of_bounds": "dependence.bounds",
    "points": "count.counting",
    "projected": "regions.extents",
    "reads_all": "dependence.bounds",
    "relation_text": "count.enumeration",
    "row_range": "regions.extents",
    "same_range": "regions.extents",
    "scan": "time.scanning",
    "storage_of": "regions.storage",
    "unguarded_reads": "regions.extents",
    "violations": "dependence.violations",
}

__all__ = [
    "Difference",
    "OutOfBounds",
    "Pairs",
    "Storage",
    "Violation",
    "band_permutable",
    "budget",
    "bytes",
    "can_parallelize",
    "can_vectorize",
    "dependence_pairs",
    "dependences",
    "differences",
    "extent",
    "flops",
    "footprint",
    "independent",
    "instances_at",
    "is_covered",
    "isl_tree",
    "longest_run",
    "lower",
    "moving_dims",
    "naive_tree",
    "operations",
    "out_of_bounds",
    "points",
    "projected",
    "reads_all",
    "relation_text",
    "row_range",
    "same_range",
    "scan",
    "storage_of",
    "unguarded_reads",
    "violations",
]

__getattr__ = deferred(__name__, NAMES)
