"""The operator library: `ops.matmul` is an Operator, parsed on first use.

`ops.list()` names them all, `ops.list("attention")` those of a family; `ops.families.attention.` and Tab goes through
them.  In a cell `ops` shows its families, a family the formulas and pictures of its operators.
"""

from __future__ import annotations

from workbench.lang.operator import Operator
from workbench.ops.browsing import families
from workbench.ops.catalogue import ENTRIES, examples, load
from workbench.ops.catalogue import names as list
from workbench.ops.counting import bytes_moved as bytes
from workbench.ops.counting import flops
from workbench.ops.samples import sample_arrays, sample_out

__all__ = ["bytes", "examples", "families", "flops", "list", "load", "sample_arrays", "sample_out"]


def __getattr__(name: str) -> Operator:
    if name.startswith("_"):
        raise AttributeError(name)
    return load(name)


def __dir__() -> set[str]:
    return {*__all__, *ENTRIES}
