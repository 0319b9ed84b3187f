"""Studies as they were left, on this machine or another: opened to be looked at, not to go on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from workbench.errors import ScheduleError, WorkbenchError, shown
from workbench.lang import operator
from workbench.poly import lower
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.schedules import Sketch, recipe_sketch, schedule
from workbench.target import Target
from workbench.target_costs import Costs
from workbench.target_gpus import GPUS
from workbench.tune.measuring.local_runner import LocalRunner
from workbench.tune.measuring.runner import Assignment
from workbench.tune.problem import Problem
from workbench.tune.searching import make_searcher
from workbench.tune.storing.database import Database, StudyKey
from workbench.tune.storing.tables import read_json
from workbench.tune.study import Study
from workbench.tune.trials import default_of


def stored(database: str | os.PathLike[str] | Database | None = None, study: str | None = None, /) -> Study:
    """A study as the database has it, whichever machine it was measured on; it measures nothing.

    `database` is what `wb.autotune` takes, or a file that `Database.export` wrote (`.jsonl`, also with `.gz`).  `study`
    is the beginning of the key of one of its studies, or the name of an operator that was studied once; it may be left
    out where there is only one.  WorkbenchError lists what there is.
    """
    store, where = _opened(database)
    row = _chosen(store.studies(), study, where)
    try:
        sketch, problem = _problem(row)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise WorkbenchError(f"the study {row['key'][:8]} of {where} is damaged: {error}") from error
    key = StudyKey(row["key"], problem, row["sketch"], row["searcher"], row["seed"])
    assignment = Assignment(sketch, problem.program, problem.target, problem.toolchain, problem.threads)
    begun = Study(
        assignment, key, store, 0, default=schedule(problem.program), runner=LocalRunner(),
        make=lambda around: make_searcher("random", around),
    )  # fmt: skip
    begun.budget = begun.done
    usual = default_of(begun.trials)
    if usual is not None and usual.schedule:
        begun.default = begun.schedule(usual)
    return begun.start()


def _opened(database: str | os.PathLike[str] | Database | None) -> tuple[Database, str]:
    """The database, and what messages call it."""
    if not isinstance(database, str | os.PathLike) or not str(database).endswith((".jsonl", ".jsonl.gz")):
        store = database if isinstance(database, Database) else Database(database, writable=False)
        return store, f"the database {store.shown}"
    if not Path(database).is_file():
        raise WorkbenchError(f"there is no file {shown(os.fspath(database))}")
    store = Database("sqlite://")  # in memory
    store.load(database)
    return store, os.fspath(database)


def _chosen(rows: Sequence[dict[str, Any]], study: str | None, where: str) -> dict[str, Any]:
    """The row of the study that is meant."""
    listed = "".join(f"\n  {row['key'][:8]}  {_described(row)}" for row in rows)
    if not rows:
        raise WorkbenchError(f"there is no study in {where}")
    if study is None:
        if len(rows) > 1:
            raise WorkbenchError(f"there are {len(rows)} studies in {where}; give the key of one:{listed}")
        return rows[0]
    found = [row for row in rows if isinstance(study, str) and (row["key"].startswith(study) or row["name"] == study)]
    if len(found) != 1 or not study:
        said = "is no study" if not found else f"are {len(found)} studies"
        raise WorkbenchError(f"there {said} {shown(study)} in {where}; it has:{listed}")
    return found[0]


def _described(row: Mapping[str, Any]) -> str:
    sizes = ", ".join(f"{name}={value}" for name, value in row["sizes"].items())
    return f"{row['name']}({sizes}) by {row['searcher']}, seed {row['seed']}: {row['trials']} trials"


def _problem(row: Mapping[str, Any]) -> tuple[Sketch, Problem]:
    """The sketch, and the problem with the machine that the trials were made on."""
    machine = row["machine"]
    program = lower(operator(row["operator"]), row["sizes"], {n: tuple(s) for n, s in row["strides"].items()})
    target = _target(row["sketch"], machine)
    problem = Problem(
        program, target, preferred_toolchain(), int(machine.get("threads", 1)),
        machine.get("seconds") == "estimated", machine,
    )  # fmt: skip
    try:
        return Sketch.from_json(program, row["sketch"]), problem
    except ScheduleError:
        return recipe_sketch(program, target), problem


def _target(sketch: str, machine: Mapping[str, Any]) -> Target:
    """The machine that a recipe's sketch notes; else what is known of it."""
    if machine.get("dialect", "c") != "c":
        wanted = str(machine.get("gpu", ""))
        return next((Target(name) for name, gpu in GPUS.items() if wanted.endswith(gpu.name)), Target("cuda"))
    noted = read_json(sketch, dict).get("target", {})
    known = {f.name for f in fields(Target)} - {"gpu", "costs"}
    facts: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in noted.items() if name in known}
    costs = Costs(**noted["costs"]) if "costs" in noted else Costs()
    if facts:
        return Target(**facts, costs=costs)
    return Target(isa=tuple(machine.get("isa", ())), vector_bits=machine.get("vector_bits", 128))
