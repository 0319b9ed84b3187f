"""Steps, their kinds, what may come next, and sketches: as titles, remarks and tables."""

from __future__ import annotations

from itertools import groupby

from workbench.errors import ScheduleError
from workbench.face import KINDS, STEPS
from workbench.schedules import NextSteps, Sketch, Transform
from workbench.schedules.explanation.vocabulary import CHANGES, StepKind, Steps, law, summary
from workbench.schedules.offers import Offer
from workbench.schedules.sketches.recipe_sketch import RecipeSketch
from workbench.schedules.sketches.space import Space
from workbench.viz.draw.tables import Table
from workbench.viz.views.program.sheet_view import Sheet, sheet_data
from workbench.wording import number_of

MOST_OPTIONS = 12


@sheet_data.register
def _(value: Transform) -> Sheet:
    """What a step does, and its law."""
    if value.name not in STEPS:
        return str(value), (), ()
    said = (summary(value.name), *([law(value.name)] if law(value.name) else []))
    return str(value), said, ()


@sheet_data.register
def _(value: StepKind) -> Sheet:
    rows = tuple((step, law(step), summary(step)) for step in value.names)
    return f"steps of {value.name}: {CHANGES[value.name]}", (), (Table(rows, mono=(0, 1)),)


@sheet_data.register
def _(value: Steps) -> Sheet:
    laws = {kind.name: tuple((step, law(step)) for step in kind.names) for kind in value}
    tables = tuple(Table(rows, f"{name}: {CHANGES[name]}", mono=(0, 1)) for name, rows in laws.items())
    return number_of(len(STEPS), "step"), (), tables


@sheet_data.register
def _(value: Offer) -> Sheet:
    title, remarks, tables = sheet_data(value.step)
    return title, (*remarks, value.reason or "may come next"), tables


@sheet_data.register
def _(value: NextSteps) -> Sheet:
    """The legal ones by what they change, with the law of each; then those that are refused, with the reasons."""
    legal = sorted(value.legal, key=lambda step: (_rank(_called(step)), _called(step)))
    tables = [
        Table(tuple(_offered([*steps])), f"{kind}: {CHANGES.get(kind, 'several kinds')}", mono=(0, 1, 2))
        for kind, steps in groupby(legal, lambda step: _kind(_called(step)))
    ]
    refused = tuple((str(offer.step), " ".join(offer.reason.split())) for offer in value.refused)
    if refused:
        tables.append(Table(refused, f"may not come next ({len(refused)})", mono=(0,)))
    said = f"{number_of(len(value.legal), 'step')} may come next; take one with schedule | wb.<step>"
    more = () if value.complete else ("not all were looked at: give more seconds= or a larger limit=",)
    return said, more, tuple(tables)


def _offered(steps: list[Transform]) -> list[tuple[str, ...]]:
    """A row for each name of a step: its law, and how it may be called here."""
    rows = []
    for name, own in groupby(steps, _called):
        calls = [str(step) for step in own]
        rows.append((name, law(name) if name in STEPS else "", ", ".join(calls)))
    return rows


def _called(step: Transform) -> str:
    """The name under which a step is called."""
    return str(step).partition("(")[0]


def _kind(step: str) -> str:
    return STEPS.get(step, "other").partition(".")[0]


def _rank(step: str) -> int:
    return [*KINDS, "other"].index(_kind(step))


@sheet_data.register
def _(value: Space) -> Sheet:
    rows = tuple((d.name, *_options([repr(o) for o in d.options])) for d in value.decisions)
    where = tuple(f"where {c}" for c in value.constraints)
    table = Table(rows, "", ("decision", "options", "how many"), mono=(0, 1), right=(2,))
    return f"space of {number_of(value.size, 'point')}", where, (table,)


def _options(own: list[str]) -> tuple[str, str]:
    shown = own if len(own) <= MOST_OPTIONS else [*own[: MOST_OPTIONS - 1], "…"]
    return ", ".join(shown), str(len(own))


@sheet_data.register(Sketch)
@sheet_data.register(RecipeSketch)
def _(value: Sketch | RecipeSketch) -> Sheet:
    title = str(value).partition("\n")[0]
    try:
        said, where, tables = sheet_data(value.space)
    except ScheduleError as reason:
        return title, (str(reason),), ()
    return title, (said, *where), tables
