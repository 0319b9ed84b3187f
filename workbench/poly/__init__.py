"""The polyhedral layer: programs as sets and relations, their dependences, loops and counts.

`lower` makes a Program of an Operator, `dependences` says what must stay in order, `naive_tree` and
`isl_tree` give time maps, `violations` checks one, `scan` turns one into loops; `points`, `flops`, `bytes`
and `footprint` count; `out_of_bounds` finds accesses outside.  Only `poly/isl.py` imports islpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.deferred import deferred

if TYPE_CHECKING:
    from workbench.poly.bounds import OutOfBounds, is_covered, out_of_bounds, reads_all
    from workbench.poly.counting import bytes, flops, footprint, operations, points
    from workbench.poly.enumeration import Pairs, dependence_pairs, instances_at, moving_dims, relation_text
    from workbench.poly.equivalence import Difference, differences
    from workbench.poly.extents import extent, independent, projected, row_range, same_range, unguarded_reads
    from workbench.poly.flow import dependences
    from workbench.poly.isl import budget
    from workbench.poly.lowering import lower
    from workbench.poly.naive import naive_tree
    from workbench.poly.order import Violation, violations
    from workbench.poly.questions import band_permutable, can_parallelize, can_vectorize
    from workbench.poly.scanning import scan
    from workbench.poly.scheduler import isl_tree
    from workbench.poly.storage import Storage, storage_of

# Which submodule gives a name.
NAMES = {
    "Difference": "equivalence",
    "OutOfBounds": "bounds",
    "Pairs": "enumeration",
    "Storage": "storage",
    "Violation": "order",
    "band_permutable": "questions",
    "budget": "isl",
    "bytes": "counting",
    "can_parallelize": "questions",
    "can_vectorize": "questions",
    "dependence_pairs": "enumeration",
    "dependences": "flow",
    "differences": "equivalence",
    "extent": "extents",
    "flops": "counting",
    "footprint": "counting",
    "independent": "extents",
    "instances_at": "enumeration",
    "is_covered": "bounds",
    "isl_tree": "scheduler",
    "lower": "lowering",
    "moving_dims": "enumeration",
    "naive_tree": "naive",
    "operations": "counting",
    "out_of_bounds": "bounds",
    "points": "counting",
    "projected": "extents",
    "reads_all": "bounds",
    "relation_text": "enumeration",
    "row_range": "extents",
    "same_range": "extents",
    "scan": "scanning",
    "storage_of": "storage",
    "unguarded_reads": "extents",
    "violations": "order",
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
