"""HTML, SVG and MathML text: every value passes through the one escape here."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


class Markup(str):
    """Text that is markup already; any other string is escaped when it becomes content."""

    __slots__ = ()


def escape(text: object) -> Markup:
    """Text made safe for content and attribute values; characters XML forbids become U+FFFD.

    >>> escape('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    if isinstance(text, Markup):
        return text
    return Markup(_ILLEGAL.sub("\ufffd", str(text)).translate(_ESCAPES))


def element(tag: str, *content: object, **attributes: object) -> Markup:
    """One element.  An attribute `class_` is written `class`, `stroke_width` `stroke-width`; None leaves it out.

    >>> element("text", "a < b", x=3, font_size=12, title=None)
    '<text x="3" font-size="12">a &lt; b</text>'
    """
    pairs = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if not content:
        return Markup(f"<{tag}{pairs}></{tag}>" if tag in _PAIRED else f"<{tag}{pairs}/>")
    return Markup(f"<{tag}{pairs}>{join(content)}</{tag}>")


def join(parts: Iterable[object], separator: str = "") -> Markup:
    """Several pieces of content one after another, each escaped unless it is markup."""
    return Markup(separator.join(escape(part) for part in parts))


def _plain(value: object) -> object:
    """Numbers of drawings: at most two decimals, no trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


_PAIRED = frozenset({"div", "span", "td", "th", "pre", "p", "mrow", "code", "figure", "ul", "table", "svg"})
