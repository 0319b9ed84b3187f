"""Partitions in folders: the model, its constants once, who computes each region, and what engines have compiled."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from pathlib import Path

from workbench.errors import EngineError, unknown_name
from workbench.graph.engines.engine_records import Engine, engine_named
from workbench.graph.engines.kept_engines import entry_name, keep_engine
from workbench.graph.engines.partitions import Partition, Placed
from workbench.graph.engines.region_calls import Watch
from workbench.graph.engines.sites import Site, site_of
from workbench.graph.models import Model
from workbench.graph.saving import load as load_model
from workbench.graph.saving import save as save_model
from workbench.graph.terms.nodes import Call
from workbench.graph.terms.walking import postorder
from workbench.lang.oracle.evaluation import evaluate as oracle

FORMAT = 1
_PLAN, _MODEL, _ENGINES = "partition.json", "model.npz", "engines"


def save(of: Partition, folder: str | PathLike[str]) -> None:
    """Write a partition into a folder: what engines with `save` have compiled by now goes along, without constants."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    save_model(of.model, place / _MODEL)
    regions = {
        name: {"engine": each.engine.name, "reason": each.reason, "seconds": each.seconds, "others": dict(each.others)}
        for name, each in of.regions.items()
    }
    plan = {"format": FORMAT, "by": of.by, "regions": regions, "totals": dict(of.totals)}
    (place / _PLAN).write_text(json.dumps(plan, indent=1), encoding="utf-8")
    for call in of.compiled().values():
        if call.engine.save is not None and call.engine.load is not None:
            for region, compiled in call.working:
                keep_engine(call.engine, region, compiled, place / _ENGINES / entry_name(call.engine, region))


def load(folder: str | PathLike[str], engines: Iterable[Engine | str] = (), *, watch: Watch | None = None) -> Partition:
    """The partition of a folder.

    Engines that come along are found by name, others are given.  What was compiled is used again as far as region,
    engine and machine are the same; the rest is compiled when it is first called.
    """
    place = Path(folder)
    try:
        plan = json.loads((place / _PLAN).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EngineError(f"{place} holds no partition: {error}; write one with wb.graph.engines.save") from None
    if plan.get("format") != FORMAT:
        raise EngineError(f"{place} has format {plan.get('format')}, and this version reads format {FORMAT}")
    model = load_model(place / _MODEL)
    given = {each.name: each for each in map(engine_named, engines)}
    placed = {name: _placed(model, name, each, given) for name, each in plan["regions"].items()}
    used = tuple({each.engine.name: each.engine for each in placed.values()}.values())
    watched = replace(watch or Watch(oracle), shipped=place / _ENGINES)
    return Partition(model, model, placed, (), used, watched, plan["by"], plan["totals"])


def _placed(model: Model, name: str, plan: dict[str, object], given: dict[str, Engine]) -> Placed:
    if name not in model.functions:
        raise EngineError(unknown_name("region", name, model.functions))
    engine = given.get(str(plan["engine"])) or engine_named(str(plan["engine"]))
    nodes = [node for node in postorder(model.functions[name]) if isinstance(node, Call)]
    sites = [site_of(node, model.typing.types) for node in nodes]
    calls = tuple(each for each in sites if isinstance(each, Site))
    seconds, others = plan["seconds"], plan["others"]
    assert isinstance(others, dict)
    return Placed(name, engine, calls, str(plan["reason"]), float(str(seconds)) if seconds else None, others)
