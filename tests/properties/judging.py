"""One case: what the product says of a schedule against what enumeration finds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from random import Random
from typing import Any

import numpy as np

from tests.properties.cases import Subject
from tests.properties.happening import Times
from tests.properties.pairing import Pairs, Wrong
from tests.properties.plain import Unknown
from tests.properties.scenes import Run, Scene, index_cells
from tests.properties.touching import Body, Event, Key, replaced
from workbench.errors import IllegalSchedule
from workbench.poly.dependence.violations import Violation
from workbench.schedules import Schedule, Transform

FILLINGS = 3  # of index arrays, for a verdict that must hold whatever they contain
TRIES = 300  # contents tried for a conflict that data are said to allow


class Disagreement(AssertionError):
    """Product and enumeration say different things."""


def judged(subject: Subject, after: Schedule, random: Random) -> str:
    """The outcome of the product's verdict, which enumeration confirms; `Disagreement` if it does not.

    "unfounded" is an unproved verdict for which no contents of index arrays were found that break it; "harmless" a
    refusal for a value that comes from elsewhere and happens to be the same.
    """
    verdict = after.verdict
    match verdict.outcome:
        case "legal":
            _confirm_legal(subject, after, random)
        case "illegal":
            _confirm_illegal(subject, after, random)
            return "illegal" if _matters(subject, after, random) else "harmless"
        case "unproved" if not verdict.violations:
            return "unproved" if _matters(subject, after, random) else "unfounded"
        case "unproved":
            _only_data(subject, after)
            return "unproved" if _breaking_contents(subject, after, random) else "unfounded"
    return verdict.outcome


def _fillings(subject: Subject) -> range:
    return range(FILLINGS if subject.gathers else 1)


def _sizes(subject: Subject, random: Random) -> Iterator[dict[str, int]]:
    """Where a verdict for open sizes is looked at."""
    for _ in range(3 if subject.program.symbols else 1):
        yield subject.some_sizes(random)


# -- accepted ---------------------------------------------------------------------------------------------


def _confirm_legal(subject: Subject, after: Schedule, random: Random) -> None:
    for sizes in _sizes(subject, random):
        for filling in _fillings(subject):
            scene = subject.at(sizes, filling)
            if Times(scene.run(after.program).instances, after.tree).divergent:
                raise Disagreement(f"accepted, but at {sizes} a barrier is not reached by every thread")
            for wrong in scene.run(after.program).wrong(after.tree)[:1]:
                raise Disagreement(f"accepted, but at {sizes}, contents {filling}: {wrong}")
            changed = scene.changed(after.program, after.tree, random)
            if changed:
                raise Disagreement(f"accepted, but at {sizes}, contents {filling}: {changed}")


# -- refused ----------------------------------------------------------------------------------------------


def _confirm_illegal(subject: Subject, after: Schedule, random: Random) -> None:
    """Every witness replays, and the sizes a refusal does not hold for are exactly those where nothing is wrong."""
    verdict = after.verdict
    if not verdict.violations and not verdict.reason:
        raise Disagreement("refused without a reason")
    if verdict.reason.startswith("divergent") and not after.program.symbols:
        run = subject.at(subject.some_sizes(random)).run(after.program)
        if not Times(run.instances, after.tree).divergent:
            raise Disagreement(f"every thread reaches every barrier: {verdict.reason}")
    if verdict.violations and all(map(_inexact, verdict.violations)):
        raise Disagreement(f"illegal, but data decide: {verdict.violations[0]}")
    for violation in verdict.violations:
        _replay(subject, after, violation)
    if not verdict.violations or not after.program.symbols or any(_inexact(v) for v in verdict.violations):
        return
    for sizes in _sizes(subject, random):
        wrong = subject.at(sizes).run(after.program).wrong(after.tree)
        if (sizes in verdict.valid_for) == bool(wrong):
            raise Disagreement(f"valid for {verdict.valid_for}, but at {sizes}: {wrong[:1] or 'nothing is wrong'}")


def _matters(subject: Subject, after: Schedule, random: Random) -> bool:
    """Whether what instance and storage steps are said to break changes some value, in an order that breaks nothing."""
    program = after.program
    for difference in after.differences:
        for filling in _fillings(subject):
            scene = subject.at(difference.sizes, filling)
            if scene.changed(program, program.reference, random) or scene.computes_otherwise(program):
                return True
    return not after.differences


def _inexact(violation: Violation) -> bool:
    return violation.dependence is not None and not violation.dependence.exact


def _replay(subject: Subject, after: Schedule, violation: Violation) -> None:
    """The two instances of a witness are dependent, and wrong for the reason given, in the loop given."""
    for filling in _fillings(subject):
        scene = subject.at(violation.sizes, filling)
        run = scene.run(after.program)
        found = _placed(run, Times(run.instances, after.tree), violation)
        claimed = Wrong(*_keys(violation), violation.reason, violation.loop)
        if found != claimed:
            raise Disagreement(f"claimed at {violation.sizes}: {claimed}; enumeration: {found}")
        if not _inexact(violation) and violation.dependence is not None:
            _dependent(run.certain, violation)


def _keys(violation: Violation) -> tuple[Key, Key]:
    dependence = violation.dependence
    ends = (dependence.source, dependence.target) if dependence else (violation.statement,) * 2
    return (ends[0], tuple(violation.source.values())), (ends[1], tuple(violation.target.values()))


def _placed(run: Run, times: Times, violation: Violation) -> Wrong | str:
    """How the tree places the two instances."""
    source, target = _keys(violation)
    missing = [key for key in (source, target) if key not in run.number]
    if missing:
        return f"no instance {missing}"
    a, b = (np.array([run.number[key]]) for key in (source, target))
    relaxed = violation.dependence is not None and violation.dependence.kind == "reduction"
    (sign,), (name,), (lanes,) = times.compare(source[0], target[0], a, b, relaxed=relaxed)
    if sign == 1 or (relaxed and sign):
        return f"{source} comes before {target}"
    return Wrong(source, target, "race" if lanes or (sign == 0 and name) else "order", name or None)


def _dependent(pairs: Pairs, violation: Violation) -> None:
    """The pair is one of those that must stay in order."""
    source, target = _keys(violation)
    a, b = (next(n for n, e in enumerate(pairs.instances.events) if e.key == key) for key in (source, target))
    relaxed = violation.dependence is not None and violation.dependence.kind == "reduction"
    first, second = pairs.groups.get((source[0], target[0], relaxed), (np.array([]),) * 2)
    if not ((first == a) & (second == b)).any():
        raise Disagreement(f"{source} and {target} do not depend on one another ({violation.dependence})")


# -- unproved ---------------------------------------------------------------------------------------------


def _breaking_contents(subject: Subject, after: Schedule, random: Random) -> bool:
    """Whether some contents of index arrays really break the order of the witness.

    An unproved verdict claims nothing if enumeration of some contents shows nothing wrong; it must not hide a pair
    that is wrong whatever data say.
    """
    for violation in after.verdict.violations:
        scene = subject.at(violation.sizes)
        found = _placed(scene.run(after.program), Times(scene.run(after.program).instances, after.tree), violation)
        if isinstance(found, str):
            raise Disagreement(f"claimed at {violation.sizes}: {violation}; enumeration: {found}")
        for cells in _meetings(subject, scene, after, violation, random):
            contents = replaced(scene.contents, cells)
            broken = Scene(subject.op, subject.program, violation.sizes, contents)
            if broken.run(after.program).wrong(after.tree):
                return True
    return False


def _only_data(subject: Subject, after: Schedule) -> None:
    """What is unproved depends on data."""
    exact = [v for v in after.verdict.violations if not _inexact(v)]
    if exact:
        raise Disagreement(f"unproved, but {exact[0]} holds whatever data say")
    if not subject.gathers and not any(e.maybe for v in after.verdict.violations for e in subject.at(v.sizes).events):
        raise Disagreement(f"unproved, but no data matter: {after.verdict.violations[0]}")


def _meetings(subject: Subject, scene: Scene, after: Schedule, violation: Violation, random: Random) -> Iterator[dict]:
    """Contents of the index cells of the two instances that make them touch one cell."""
    program, run = after.program, scene.run(after.program)
    events = [run.events[run.number[key]] for key in _keys(violation)]
    cells = sorted(index_cells(events, subject.integers))
    values = subject.values if subject.name.split()[0] != "random" else range(-2, 8)
    choices: Any = product(values, repeat=len(cells))
    if len(values) ** len(cells) > TRIES:
        choices = ([random.choice(values) for _ in cells] for _ in range(TRIES))
    for chosen in choices:
        contents = dict(zip(cells, chosen, strict=True))
        kept = [(cell[0], value) for cell, value in contents.items() if cell[0] in subject.injective]
        if len(set(kept)) < len(kept):
            continue
        try:
            first, second = (_again(program, scene, key, contents) for key in _keys(violation))
        except Unknown:
            return
        if _meet(first, second):
            yield contents


def _again(program: Any, scene: Scene, key: Key, contents: dict) -> Event:
    """The instance with other contents."""
    s = program.statement(key[0])
    body = Body(s.id, s.dims, s.targets, s.values, s.reduction, begins=s.kind == "initialise")
    env = {**program.sizes, **scene.sizes, **dict(zip(s.dims, key[1], strict=True))}
    return body.event(env, replaced(scene.contents, contents))


def _meet(a: Event, b: Event) -> bool:
    first, second = set(a.writes), set(b.writes)
    return bool(first & second or first & (b.reads | b.maybe) or second & (a.reads | a.maybe))


# -- repairs ----------------------------------------------------------------------------------------------


def repairs(subject: Subject, before: Schedule, step: Transform, random: Random) -> int:
    """How many repairs of a refused step are offered; each must be accepted, and right."""
    try:
        before | step
    except IllegalSchedule as error:
        offered = list(islice(error.repairs, 4))
    else:
        return 0
    for repair in offered:
        try:
            after = before | repair
        except IllegalSchedule as error:
            raise Disagreement(f"repair {repair} of {step} is refused: {error}") from error
        _confirm_legal(subject, after, random)
    return len(offered)
