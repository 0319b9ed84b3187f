"""The tables of a database of trials, and trials as their rows; what stands in a row is never executed."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sql

from workbench.tune.trials import OUTCOMES, Trial

ESTIMATE, KEY, TWIN_OF = "estimate", "key", "twin_of"
"""Where these stand among the features: older tables have no columns for them."""

LONGEST = 10_000_000
"""Characters of one JSON text that are read."""

TABLES = sql.MetaData()
FACTS = sql.Table(
    "wb_facts", TABLES, sql.Column("name", sql.String(40), primary_key=True), sql.Column("value", sql.Text)
)
PROBLEMS = sql.Table(
    "wb_problems", TABLES,
    sql.Column("key", sql.String(64), primary_key=True),
    sql.Column("family", sql.String(64), index=True),
    *(sql.Column(name, sql.Text) for name in ("name", "operator", "sizes", "strides", "machine")),
)  # fmt: skip
STUDIES = sql.Table(
    "wb_studies", TABLES,
    sql.Column("key", sql.String(64), primary_key=True),
    sql.Column("problem", sql.String(64), index=True),
    *(sql.Column(name, sql.Text) for name in ("sketch", "searcher", "seed")),
    sql.Column("created", sql.Float),
)  # fmt: skip
TRIALS = sql.Table(
    "wb_trials", TABLES,
    sql.Column("uid", sql.String(40), primary_key=True),
    sql.Column("study", sql.String(64), index=True),
    sql.Column("problem", sql.String(64), index=True),
    sql.Column("number", sql.Integer),
    sql.Column("outcome", sql.String(20)),
    sql.Column("seconds", sql.Float),
    *(sql.Column(name, sql.Float) for name in ("lower", "upper", "predicted", "build_seconds", "run_seconds", "began")),
    sql.Column("round", sql.Integer),
    *(sql.Column(name, sql.Text) for name in ("source", "point", "schedule", "steps", "message", "features")),
)  # fmt: skip
sql.Index("wb_fastest", TRIALS.c.problem, TRIALS.c.seconds)


def primary(table: sql.Table) -> str:
    """The column whose value a table has once."""
    return next(iter(table.primary_key.columns)).name


def row_of(study: str, problem: str, trial: Trial) -> dict[str, Any]:
    """A trial as it is stored."""
    return {
        "uid": trial.uid or uuid.uuid4().hex, "study": study, "problem": problem, "number": trial.number,
        "outcome": trial.outcome, "seconds": trial.seconds, "lower": trial.lower, "upper": trial.upper,
        "predicted": trial.predicted, "build_seconds": trial.build_seconds, "run_seconds": trial.run_seconds,
        "began": trial.began, "round": trial.round, "source": trial.source,
        "point": json.dumps(_storable(trial.point)), "schedule": trial.schedule, "steps": trial.steps,
        "message": trial.message[:4000], "features": json.dumps(_with_facts(trial)),
    }  # fmt: skip


def _with_facts(trial: Trial) -> dict[str, Any]:
    """Its features, and what there is of the rest."""
    facts = {ESTIMATE: trial.estimate, KEY: trial.key or None, TWIN_OF: trial.twin_of}
    return {**(trial.features or {}), **{name: value for name, value in facts.items() if value is not None}}


def _storable(point: Mapping[str, Any]) -> dict[str, Any]:
    """Options as JSON has them; those that are steps by their text."""
    plain = (str, int, float, bool, type(None), list, tuple)
    return {name: value if isinstance(value, plain) else str(value) for name, value in point.items()}


def trial_of(row: Mapping[str, Any]) -> Trial:
    """A trial of a row, whatever stands in it."""
    features = read_json(row["features"], dict)
    numbers = {n: float(v) for n, v in features.items() if isinstance(v, int | float)}
    estimate, twin_of = (_number(numbers.pop(name, None)) for name in (ESTIMATE, TWIN_OF))
    key = features.get(KEY)
    outcome = row["outcome"] if row["outcome"] in OUTCOMES else "not built"
    seconds = _number(row["seconds"]) if outcome == "measured" else None
    if outcome == "measured" and not seconds:
        outcome = "wrong"
    return Trial(
        int(_number(row["number"]) or 0), read_json(row["point"], dict), outcome,
        seconds, _number(row["lower"]), _number(row["upper"]), str(row["schedule"] or ""), str(row["steps"] or ""),
        str(row["message"] or ""), _number(row["predicted"]), numbers, _number(row["build_seconds"]) or 0.0,
        _number(row["run_seconds"]) or 0.0, _number(row["began"]) or 0.0, int(_number(row["round"]) or 0),
        str(row["source"] or ""), str(row["uid"]), estimate=estimate if outcome == "estimated" else None,
        key=key if isinstance(key, str) else "", twin_of=None if twin_of is None else int(twin_of),
    )  # fmt: skip


def _number(value: Any) -> float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    return float(value) if good else None


def read_json(text: Any, kind: type) -> Any:
    """JSON of some kind; an empty one for anything else."""
    if not isinstance(text, str) or len(text) > LONGEST:
        return kind()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return kind()
    return found if isinstance(found, kind) else kind()
