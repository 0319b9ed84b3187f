"""The polyhedral layer: programs as sets and relations, their dependences, loops and counts.

`lower` makes a Program of an Operator, `dependences` says what must stay in order, `naive_tree` and `isl_tree` give time
maps, `violations` checks one, `scan` turns one into loops.  Only `poly/isl.py` imports islpy.
"""

from workbench.poly.extents import extent, unguarded_reads
from workbench.poly.flow import dependences
from workbench.poly.isl import budget
from workbench.poly.lowering import lower
from workbench.poly.naive import naive_tree
from workbench.poly.order import Violation, band_permutable, can_parallelize, can_vectorize, violations
from workbench.poly.scanning import scan

__all__ = [
    "Violation",
    "band_permutable",
    "budget",
    "can_parallelize",
    "can_vectorize",
    "dependences",
    "lower",
    "naive_tree",
    "scan",
    "violations",
]
