"""`Picture`: what a view gives back: SVG, HTML, PNG and text of one thing, for a cell, a file or a test."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError, unknown_name
from workbench.records import record
from workbench.viz.markup import Markup, element, join
from workbench.viz.palette import Theme
from workbench.viz.png_drawing import png_bytes
from workbench.viz.scene import Scene, text_scene
from workbench.viz.stylesheet import stylesheet
from workbench.viz.svg_drawing import svg_text
from workbench.viz.vector_drawing import pdf_bytes, scene_figure

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
