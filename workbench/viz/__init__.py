"""Pictures: a value becomes plain data, then SVG, HTML, PNG and text; no JavaScript, nothing from the network.

Each view shows one side of a value and returns a `Picture`: `domain`, `order`, `tree`, `code`, `formula`, `sheet`;
`footprint` and `roofline` count bytes, `diff` compares.  `picture` puts together what a cell shows, `mimebundle` is
that for a notebook.
"""

from workbench.viz.code_view import code
from workbench.viz.diff_view import diff
from workbench.viz.display import mimebundle, picture
from workbench.viz.domain_view import domain
from workbench.viz.footprint_view import footprint
from workbench.viz.formula_view import formula
from workbench.viz.order_view import order
from workbench.viz.pictures import Picture
from workbench.viz.roofline_view import roofline
from workbench.viz.sheet_view import sheet
from workbench.viz.tree_view import tree

__all__ = [
    "Picture",
    "code",
    "diff",
    "domain",
    "footprint",
    "formula",
    "mimebundle",
    "order",
    "picture",
    "roofline",
    "sheet",
    "tree",
]
