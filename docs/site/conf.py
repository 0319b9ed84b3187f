"""The documentation site; `make docs` puts its sources together (tools/docs.py) and builds it."""

from __future__ import annotations

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import workbench

project = "Tensor Workbench"
author = "The Tensor Workbench's authors"
project_copyright = author
release = version = workbench.__version__

extensions = ["myst_nb", "sphinx_design", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
highlight_language = "default"
maximum_signature_line_length = 110
toc_object_entries_show_parents = "hide"
smartquotes = False
numfig = False

# Notebooks come with the outputs of this tree (tools/run_notebooks.py).
nb_execution_mode = "off"
nb_render_image_options = {"align": "left"}
nb_merge_streams = True
# A page has no kernel: a panel shows its stored picture, pictures the form that follows the theme.
nb_ipywidgets_js: dict[str, object] = {}
nb_mime_priority_overrides = [
    ("html", "text/html", 0),
    ("html", "image/svg+xml", 10),
    ("html", "image/png", 20),
    ("html", "text/plain", 90),
]
suppress_warnings = [
    "mystnb.unknown_mime_type",  # what only a notebook with a kernel can show
    "myst.header",  # the titles of docstrings and notebooks begin where their page is
]

html_theme = "pydata_sphinx_theme"
html_title = "Tensor Workbench"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
html_sidebars = {"index": [], "gallery": []}
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}


class NamesOfTheApi(SphinxTransform):
    """What stands in a text as `wb.tile(m=64)` leads to the page of `wb.tile`, where there is one."""

    default_priority = 5

    def apply(self, **kwargs: object) -> None:
        """Put a reference around each such literal."""
        for literal in list(self.document.findall(nodes.literal)):
            name = literal.astext().partition("(")[0]
            if name.startswith("wb.") and name.replace(".", "").replace("_", "").isalnum() and _plain(literal):
                reference = addnodes.pending_xref(
                    "", literal.deepcopy(), refdomain="py", reftype="obj", reftarget=name, refwarn=False,
                    refdoc=self.env.docname, refexplicit=True,
                )  # fmt: skip
                literal.replace_self(reference)


def _plain(literal: nodes.literal) -> bool:
    """Whether a literal stands in running text: no link around it, and no heading."""
    outside = (nodes.reference, addnodes.pending_xref, nodes.title, addnodes.desc_signature)
    above = literal.parent
    while above is not None:
        if isinstance(above, outside):
            return False
        above = above.parent
    return True


def setup(app: Sphinx) -> dict[str, bool]:
    """Register what this file adds."""
    app.add_transform(NamesOfTheApi)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
