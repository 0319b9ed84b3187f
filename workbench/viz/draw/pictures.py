"""`Picture`: what a view gives back: SVG, HTML, PNG and text of one thing, for a cell, a file or a test."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import field
from functools import cache, cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError, unknown_name
from workbench.records import record
from workbench.viz.draw.markup import Markup, element, join
from workbench.viz.draw.palette import COLOURS, Theme, variables
from workbench.viz.draw.png import png_bytes
from workbench.viz.draw.scene import Scene, text_scene
from workbench.viz.draw.svg import MONO, SANS, svg_text
from workbench.viz.draw.vector import pdf_bytes, scene_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@record(eq=False)
class Picture:
    """One view of a value.

    `text` is its form in words, `drawing` the scene (drawn from the words when a view has none), `body` what the HTML
    form shows (the drawing when a view has no better), `latex` its mathematics, `data` what it was drawn from.
    """

    text: str
    drawing: Scene | None = field(default=None, repr=False)
    body: Markup | None = field(default=None, repr=False)
    latex: str | None = field(default=None, repr=False)
    data: Any = field(default=None, repr=False)

    @property
    def scene(self) -> Scene:
        """The marks that SVG and PNG draw."""
        return self.drawing if self.drawing is not None else text_scene(self.text)

    @cached_property
    def svg(self) -> str:
        """SVG text whose colours follow the page's theme."""
        return svg_text(self.scene)

    @cached_property
    def png(self) -> bytes:
        """PNG bytes on white."""
        return png_bytes(self.scene)

    @property
    def html(self) -> str:
        """HTML without JavaScript that follows the page's theme.

        A reader who does not trust a notebook strips styles and drawings from it; what is left then is the PNG, or
        the words, instead of debris.
        """
        return self._html("auto")

    def _html(self, theme: Theme) -> str:
        live = self.body if self.body is not None else svg_text(self.scene, theme, styled=False)
        return element(
            "div",
            element("style", Markup(stylesheet(theme))),
            element("div", live, class_="wb-live", hidden="hidden"),
            element("div", self._still(), class_="wb-still"),
            class_="wb",
        )

    def _still(self) -> Markup:
        if self.drawing is None or self.body is not None:
            return element("pre", self.text)
        source = f"data:image/png;base64,{b64encode(self.png).decode()}"
        return element("img", src=Markup(source), alt=self.drawing.label, width=int(self.drawing.width + 16))

    def figure(self, *, theme: Theme = "light", width: float | None = None) -> Figure:
        """The drawing as a Matplotlib Figure, in its own size or as wide as so many inches."""
        return scene_figure(self.scene, theme, width)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": self.text, "text/html": self.html}
        if self.drawing is not None:
            bundle |= {"image/svg+xml": self.svg, "image/png": b64encode(self.png).decode()}
        if self.latex is not None:
            bundle["text/latex"] = self.latex
        return bundle

    def __str__(self) -> str:
        return self.text

    def save(self, path: str | PathLike[str], *, theme: Theme = "light") -> Path:
        """Write the picture; the ending says how: .svg, .png, .pdf, .html, .txt or .tex.

        `theme` is "light", "dark" or, for SVG and HTML, "auto" (follows the reader's).  Raises WorkbenchError for an
        ending that is not known, or .tex where there is no mathematics.
        """
        target = Path(path)
        target.write_bytes(self._encoded(target.suffix, theme))
        return target

    def _encoded(self, suffix: str, theme: Theme) -> bytes:
        match suffix:
            case ".svg":
                return svg_text(self.scene, theme).encode()
            case ".png":
                return png_bytes(self.scene, theme)
            case ".pdf":
                return pdf_bytes(self.scene, theme)
            case ".html":
                return page(self._html(theme), self.text.partition("\n")[0]).encode()
            case ".txt":
                return f"{self.text}\n".encode()
            case ".tex" if self.latex is not None:
                return f"{self.latex}\n".encode()
        known = [".svg", ".png", ".pdf", ".html", ".txt", *([".tex"] if self.latex is not None else [])]
        raise WorkbenchError(f"cannot save this picture: {unknown_name('ending', suffix, known)}")


def page(content: str, title: str) -> str:
    """A whole HTML document around a picture."""
    head = join([element("meta", charset="utf-8"), element("title", title), element("style", Markup(_PAGE))])
    root = element("div", Markup(content), class_="wb wb-page")
    return f"<!DOCTYPE html>\n<html><head>{head}</head><body>{root}</body></html>\n"


_PAGE = "body{margin:0}.wb-page{min-height:100vh;padding:16px;box-sizing:border-box;background:var(--wb-ground)}"


# -- The styles of the HTML forms: one short sheet, everything below the class `wb` --

# The class stands twice where JupyterLab has a rule of its own (tables, code), which one class would not outweigh.
_RULES = f"""
.wb{{color:var(--wb-ink);font:14px/1.45 {SANS};text-align:left}}
.wb .wb-live[hidden]{{display:block!important}}
.wb .wb-still{{display:none}}
.wb svg{{max-width:100%;height:auto;display:block}}
.wb h4{{font-size:14px;font-weight:600;margin:2px 0 6px}}
.wb .wb-note,.wb figcaption{{color:var(--wb-soft);font-size:12.5px;margin:4px 0;max-width:80ch}}
.wb.wb table{{border-collapse:collapse;margin:4px 0 8px;border:none;font-size:13px}}
.wb.wb th{{font-weight:600;color:var(--wb-soft);text-align:left}}
.wb.wb td,.wb.wb th{{padding:2px 18px 2px 0;border:none;background:none;vertical-align:baseline;text-align:left}}
.wb.wb td:first-child{{white-space:nowrap}}
.wb.wb tr{{background:none!important}}
.wb.wb thead tr{{border-bottom:1px solid var(--wb-grid)}}
.wb.wb td.wb-n{{text-align:right;font-variant-numeric:tabular-nums}}
.wb.wb .wb-m,.wb.wb pre,.wb.wb code{{font-family:{MONO};font-size:12.5px}}
.wb.wb pre{{margin:0;line-height:1.5;white-space:pre;word-break:normal;overflow-wrap:normal;
color:inherit;background:none;padding:0;border:none}}
.wb details{{margin:6px 0}}
.wb summary{{cursor:pointer;color:var(--wb-soft);font-size:12.5px}}
.wb math{{font-size:118%;font-family:math,"STIX Two Math","Latin Modern Math","Cambria Math","STIX Math",serif}}
.wb .wb-f{{margin:2px 0 2px 4px;padding:3px 0;overflow-x:auto}}
.wb .wb-note math{{font-size:104%}}
.wb .wb-side{{display:flex;flex-wrap:wrap;gap:12px 28px;align-items:flex-start}}
.wb .wb-side>div{{min-width:0;max-width:100%}}
.wb .wb-side>.wb-wide{{flex:1 1 520px}}
.wb .wb-code{{overflow-x:auto;max-width:100%;background:var(--wb-panel);border-radius:6px;padding:8px 12px 8px 0}}
.wb .wb-l{{color:var(--wb-soft);display:inline-block;width:3.2em;text-align:right;padding-right:1.1em;
user-select:none;opacity:.75}}
.wb .wb-b{{font-weight:600}}
"""


@cache
def stylesheet(theme: Theme) -> str:
    """CSS of the HTML forms for one theme, or for the page's ("auto")."""
    roles = "".join(f".wb .wb-{role}{{color:var(--wb-{role})}}" for role in COLOURS)
    return variables(theme) + _RULES.replace("\n", "") + roles
