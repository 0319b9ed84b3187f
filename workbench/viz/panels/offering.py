"""What a panel offers next, and what it says of a step that was refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from workbench import poly
from workbench.errors import IllegalSchedule, WorkbenchError
from workbench.poly.dependence.violations import Violation
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import path
from workbench.poly.sets import isl
from workbench.schedules import NextSteps, Schedule, offers, preview
from workbench.schedules.legality import data_conditions, instance
from workbench.schedules.offers import Gathering
from workbench.schedules.steps.support.block_sizes import too_short
from workbench.schedules.transform import Transform, from_json
from workbench.viz.frames.coordinates import Coordinate, Point, component
from workbench.viz.frames.frame import Asked, Frame
from workbench.viz.messages.stepping import More, Offer, Offers, Refusal, Step, Wrong
from workbench.viz.panels.domain.points import dependences_between, drawn_frames, moments, row_numbers, tables

if TYPE_CHECKING:
    from workbench.viz.panels.widget import Panel

MOST_RED = 400
LOOKING_SECONDS = 0.4  # for next steps, unless more is asked for
MOST_SECONDS = 5.0
AGAIN_SECONDS = 30.0  # for one step that was not judged in time


def offers_payload(found: NextSteps, short: Sequence[str] = ()) -> Offers:
    """The steps that may come next, those that may not with the reason, and loops too short for any block."""
    steps = [_offered(offer) for offer in found]
    return {"steps": steps, "complete": found.complete, "left": list(found.left), "short": list(short)}


def _offered(offer: offers.Offer) -> Offer:
    return {
        "text": str(offer.step), "kind": offer.step.name, "step": offer.step.to_json(),
        "legal": bool(offer.verdict), "known": offer.known, "reason": offer.reason,
    }  # fmt: skip


def judged_again(panel: Panel, step: Step) -> Offer | None:
    """One step of the list judged anew, with more time, and put in its place; None if the schedule changed."""
    schedule, taken = panel.schedule, step_of(step)
    with isl.deadline(AGAIN_SECONDS):
        found = _offered(offers.Offer(taken, schedule.can(taken)))
    with panel.lock:
        if panel.schedule is not schedule:
            return None
        listed = [found if one["text"] == found["text"] else one for one in panel.offers.get("steps", [])]
        panel.offers = {**panel.offers, "steps": listed}
    return found


def asked_offers(
    panel: Panel, kinds: list[str] | None = None, seconds: float = LOOKING_SECONDS, part: float | None = None
) -> More:  # fmt: skip
    """The next steps, or a part of the work for so many seconds: what else is asked need not wait for all of it."""
    if part is not None and panel.offers and seconds <= LOOKING_SECONDS:
        return {"more": False}  # another view has asked
    found = panel.gathering
    if found is None or found.schedule is not panel.schedule or not found.more:
        found = panel.gathering = Gathering(panel.schedule, kinds, min(seconds, MOST_SECONDS))
    found.advance(seconds if part is None else part)
    if not found.more or part is None:
        panel.offers, panel.gathering = dict(offers_payload(found.result, too_short(panel.schedule))), None
    return {"more": panel.gathering is not None}


def step_of(data: Step) -> Transform:
    """The step that a message describes; ScheduleError that lists what is known."""
    return from_json(data)


def refusal_payload(schedule: Schedule, step: Transform, error: WorkbenchError, asked: Asked) -> Refusal:
    """The reason, the pairs of instances in the wrong order at the drawn sizes, and the repairs that were found."""
    said: Refusal = {"step": str(step), "reason": str(error).partition("\n")[0], "repairs": [], "pairs": []}
    if not isinstance(error, IllegalSchedule):
        return said
    said["repairs"] = [{"text": str(r), "step": r.to_json()} for r in error.repairs]
    said["without"] = error.why_no_repair
    try:
        said["pairs"] = _wrong_pairs(preview(schedule, step), asked)
    except WorkbenchError:
        said["pairs"] = []
    return said


def _wrong_pairs(after: Schedule, asked: Asked) -> list[Wrong]:
    """For each violated dependence its witness, and other pairs that run the wrong way round."""
    first = drawn_frames(after, asked)[0]
    program, tree = first.of.program, first.of.tree
    points = tables(first)
    whens = moments(program, tree, points, first.drawn.sizes)
    return [_red(v, program, first, points, whens) for v in poly.violations(program, tree)]


def _red(v: Violation, program: Program, frame: Frame, points: dict[str, Any], whens: dict[str, Any]) -> Wrong:
    source = v.dependence.source if v.dependence else v.statement
    target = v.dependence.target if v.dependence else v.statement
    a, b = (program.statement(s) for s in (source, target))
    rows = {s: row_numbers(points[s]) for s in (source, target)}
    witness = tuple(v.source[d] for d in a.dims), tuple(v.target[d] for d in b.dims)
    pairs = [witness, *_others(v, program, frame, rows, whens)]
    seen = dict.fromkeys((p, q) for p, q in pairs if p in rows[source] and q in rows[target])
    return {
        "source": a.name, "target": b.name, "reason": v.reason, "loop": v.loop or "",
        "kind": v.dependence.kind if v.dependence else "output",
        "array": v.dependence.array if v.dependence else "",
        "pairs": [(list(p), list(q)) for p, q in list(seen)[:MOST_RED]],
        "words": (instance(program, source, v.source), instance(program, target, v.target)),
        "data": "" if v.dependence is None or v.dependence.exact else data_conditions(program, v),
    }  # fmt: skip


def _others(v: Violation, program: Program, frame: Frame, rows: Any, whens: Any) -> Iterator[tuple[Point, Point]]:
    """Pairs of the same dependence that go wrong as the witness does: the target first, or both at once."""
    d = v.dependence
    if d is None:
        return
    try:
        known = dependences_between(program, tuple(frame.drawn.sizes.items()), frame.drawn.window)
    except WorkbenchError:
        return
    ends = (d.kind, d.source, d.target)
    alike = [k for k in known if (k.dependence.kind, k.dependence.source, k.dependence.target) == ends]
    wrong = _at_once(_levels(v, program, frame)) if v.reason == "race" else _backwards(rows, whens, d.source, d.target)
    yield from ((p, q) for pairs in alike for p, q in pairs.pairs if wrong(p, q))


def _backwards(rows: Any, whens: Any, source: str, target: str) -> Callable[[Point, Point], bool]:
    """Whether the target of a pair does not come after its source."""
    first, second = rows[source], rows[target]
    return lambda p, q: p in first and q in second and whens[target][second[q]] <= whens[source][first[p]]


def _at_once(levels: list[tuple[Coordinate, Coordinate]]) -> Callable[[Point, Point], bool]:
    """Whether the last level, and none outside it, separates a pair."""
    *outer, (a, b) = levels
    return lambda p, q: a(p) != b(q) and all(c(p) == d(q) for c, d in outer)


def _levels(v: Violation, program: Program, frame: Frame) -> list[tuple[Coordinate, Coordinate]]:
    """The times of source and target at the loops around both, up to the one that decides."""
    assert v.dependence is not None
    ends = [program.statement(s) for s in (v.dependence.source, v.dependence.target)]
    found = []
    for a, b in zip(*(path(frame.of.tree, s.id) for s in ends), strict=False):
        found.append(tuple(component(program, x, s, frame.drawn.sizes) for x, s in zip((a, b), ends, strict=True)))
        if a.name == v.loop:
            break
    return found
