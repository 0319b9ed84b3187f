"""Engines kept on disk: what one compiled is loaded again while region, engine and machine are the same."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from workbench.errors import EngineError, shown
from workbench.graph.engines.engine_records import Engine
from workbench.graph.engines.subgraphs import Subgraph
from workbench.runtime.compilers.storage import subdirectory
from workbench.runtime.host.processor import this_processor

FORMAT = 1
_HEAD = "engine.json"


def compiled_or_kept(
    engine: Engine, region: Subgraph, *, keep: bool = True, shipped: Path | None = None
) -> Callable[..., Any]:
    """The callable of an engine for a region: what was kept if it was made of exactly this, else compiled and kept.

    It is kept in the cache directory; a `shipped` folder, of a saved partition, is looked into first.
    """
    if engine.save is None or engine.load is None:
        return _compiled(engine, region)
    entry = entry_name(engine, region)
    places = [*([shipped / entry] if shipped else []), *([subdirectory("engines") / entry] if keep else [])]
    for place in places:
        found = _loaded(engine, region, place)
        if found is not None:
            return found
    found = _compiled(engine, region)
    if keep:
        keep_engine(engine, region, found, places[-1])
    return found


def _compiled(engine: Engine, region: Subgraph) -> Callable[..., Any]:
    found = engine.compile(region)
    if not callable(found):
        raise EngineError(f"compile returned {shown(found)}, which cannot be called")
    return found


def machine_key() -> str:
    """A digest of this processor: what was compiled for it is of no use on another."""
    found = this_processor()
    return sha256(repr((found.architecture, found.model, sorted(found.features))).encode()).hexdigest()[:16]


def entry_name(engine: Engine, region: Subgraph) -> str:
    """The name under which something is kept: a digest of all that it was made of."""
    return sha256(json.dumps(_head(engine, region)).encode()).hexdigest()[:32]


def _head(engine: Engine, region: Subgraph) -> dict[str, Any]:
    return {"format": FORMAT, "engine": engine.name, "version": engine.version, "machine": machine_key(),
            "region": region.key}  # fmt: skip


def _loaded(engine: Engine, region: Subgraph, folder: Path) -> Callable[..., Any] | None:
    """What is kept in a folder; None if there is nothing, if it was made of something else, or does not load."""
    try:
        if json.loads((folder / _HEAD).read_text(encoding="utf-8")) != _head(engine, region):
            return None
        assert engine.load is not None
        return engine.load(region, folder)
    except FileNotFoundError:
        return None
    except Exception:  # whatever is wrong with it: it can be made again
        shutil.rmtree(folder, ignore_errors=True)
        return None


def keep_engine(engine: Engine, region: Subgraph, compiled: Callable[..., Any], folder: Path) -> None:
    """Keep something, whole or not at all; an engine that cannot save it goes without."""
    assert engine.save is not None
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".writing-"))
    try:
        engine.save(compiled, staging)
        (staging / _HEAD).write_text(json.dumps(_head(engine, region)), encoding="utf-8")
        if not folder.exists():
            os.replace(staging, folder)
    except Exception:  # a full disk, or a fault of `save`: the callable itself is fine
        pass
    finally:
        shutil.rmtree(staging, ignore_errors=True)
