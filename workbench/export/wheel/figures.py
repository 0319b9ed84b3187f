"""The figures of what chose the schedules: trials, seconds, the machine; and the schedules themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.export.dispatch import Family
from workbench.runtime.measuring.timing import duration
from workbench.tune import Study
from workbench.tune.trials import default_of


def figures_of(families: Mapping[str, Family], studies: Sequence[Study]) -> dict[str, Any]:
    """What `figures.json` says: for each operator its text, its schedules, and the studies that chose them."""
    return {name: _operator(family, studies) for name, family in families.items()}


def _operator(family: Family, studies: Sequence[Study]) -> dict[str, Any]:
    own = [s for s in studies if s.assignment.program.original.definition == family.op]
    return {
        "text": family.op.text,
        "schedules": [
            {"kernel": str(variant), "sizes": variant.sizes, "python": variant.schedule.to_python(),
             "record": json.loads(variant.schedule.to_json())}
            for variant in family.every_variant
        ],
        "studies": [_study(study) for study in own],
    }  # fmt: skip


def _study(study: Study) -> dict[str, Any]:
    best, default = study.best_trial, default_of(study.trials)
    return {
        "problem": str(study.key.problem),
        "sizes": study.best.program.sizes,
        "trials": len(study.trials) - study.twins,
        "outcomes": study.outcomes,
        "best_seconds": best.seconds if best is not None else None,
        "default_seconds": default.seconds if default is not None else None,
        "estimated": study.ranked,
        "machine": study.key.problem.machine,
    }


def figures_table(figures: Mapping[str, Any]) -> str:
    """The studies as a table of Markdown, or a sentence that there was none."""
    rows = [_row(name, study) for name, facts in figures.items() for study in facts["studies"]]
    if not rows:
        return "No search chose these schedules: they are somebody's own, or the default recipe's."
    head = "| operator | sizes | trials | best | default recipe | measured on |\n|---|---|---|---|---|---|"
    return "\n".join([head, *rows])


def _row(name: str, study: Mapping[str, Any]) -> str:
    sizes = ", ".join(f"{n}={v}" for n, v in study["sizes"].items())
    known = (study["best_seconds"], study["default_seconds"])
    times = [duration(s) if s is not None else "not measured" for s in known]
    machine = f"{study['machine'].get('processor', '?')}, {study['machine'].get('threads', '?')} threads"
    return f"| {name} | {sizes} | {study['trials']} | {times[0]} | {times[1]} | {machine} |"
