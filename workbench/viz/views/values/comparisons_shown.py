"""A comparison of two schedules as words in which what goes and what comes has a colour."""

from __future__ import annotations

from workbench.codegen.comparing import Comparison
from workbench.viz.draw.markup import Markup, element, join
from workbench.viz.draw.pictures import Picture

# How a line begins → its role: what only the second has, what only the first has, where in the text.
ROLES = {"+": "s2", "-": "bad", "@": "soft"}


def comparison(value: Comparison) -> Picture:
    """Steps, loops, counts and code in which two schedules differ."""
    title, _, rest = str(value).partition("\n")
    lines = join([_line(line) for line in rest.splitlines()], "\n")
    return Picture(str(value), None, element("div", element("h4", title), element("pre", lines)))


def _line(line: str) -> Markup:
    role = ROLES.get(line.lstrip()[:1])
    return element("span", line, class_=f"wb-{role}") if role else element("span", line)
