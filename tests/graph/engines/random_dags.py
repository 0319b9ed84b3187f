"""Random graphs of calls on small vectors of whole numbers, and random engines: honest ones and capricious ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import workbench as wb
from tests.graph.random_models import OPERATORS

NAMES = ("add1", "scale1", "softplus", "halves", "rows", "column", "total", "add1", "halves")


def random_dag(seed: int, calls: int = 12) -> wb.Model:
    """A model of about so many calls with several results; every value may be used again."""
    random = np.random.default_rng([seed, 7])
    builder = wb.graph.Builder()
    vectors = [builder.parameter(name, "float32[n]") for name in "xyz"]
    vectors.append(builder.constant(np.array([1, -2, 3, 0], "float32")))
    vectors = vectors[:3] if random.random() < 0.5 else [builder.parameter("w", "float32[4]"), vectors[3]]
    scalars = [builder.constant(np.float32(2.0))]
    matrices: list[Any] = []

    def some(of: list[Any]) -> Any:
        return of[int(random.integers(max(0, len(of) - 5), len(of)))]

    for _ in range(calls):
        name = NAMES[int(random.integers(len(NAMES)))]
        op = OPERATORS[name]
        if name == "add1":
            vectors.append(builder.call(op, some(vectors), some(vectors)))
        elif name == "scale1":
            vectors.append(builder.call(op, some(vectors), some(scalars)))
        elif name == "softplus":
            vectors.append(builder.call(op, some(vectors)))
        elif name == "halves":
            both = builder.call(op, some(vectors))
            vectors += [builder.project(both, at) for at in range(2)]
        elif name == "rows":
            matrices.append(builder.call(op, some(vectors), builder.constant(np.array([1, 2, -1], "float32"))))
        elif name == "column" and matrices:
            vectors.append(builder.call(op, some(matrices)))
        elif name == "total":
            scalars.append(builder.call(op, some(vectors)))
    return builder.model(builder.tuple(*vectors[-2:], scalars[-1]))


def dag_arguments(model: wb.Model) -> tuple[np.ndarray, ...]:
    """Vectors of four whole numbers, as floats."""
    random = np.random.default_rng(3)
    return tuple(random.integers(-3, 4, 4).astype("float32") for _ in model.main.parameters)


def random_engines(seed: int, behaviours: tuple[str, ...] = ("honest",)) -> list[Any]:
    """Three engines that each take some operators, as sites or as pairs of calls, and behave as they like."""
    random = np.random.default_rng([seed, 11])
    return [_engine(f"e{at}", random, behaviours) for at in range(3)]


def _engine(name: str, random: np.random.Generator, behaviours: tuple[str, ...]) -> Any:
    taken = {each for each in OPERATORS if random.random() < 0.6}
    chain = ("add1", str(random.choice(["scale1", "add1", "softplus"])))
    patterns = None if random.random() < 0.5 else [chain, *sorted(taken)]
    behaviour = str(random.choice(list(behaviours)))

    def supports(site: wb.graph.engines.Site) -> bool | str:
        return site.name in taken or f"{name} knows no {site.name}"

    @wb.engine(name, patterns=patterns, supports=supports)
    def made(region: wb.graph.engines.Subgraph) -> Callable[..., Any]:
        if behaviour == "crashes while compiling":
            raise RuntimeError("no licence")
        return lambda *arrays: _misbehaved(behaviour, region.evaluate(*arrays), arrays)

    return made


def _misbehaved(behaviour: str, found: Any, arrays: tuple[Any, ...]) -> Any:
    results = list(found) if isinstance(found, tuple) else [found]
    match behaviour:
        case "crashes":
            raise ValueError("out of luck")
        case "gives too many":
            return (*results, results[0])
        case "gives another type":
            return [each.astype("float64") for each in results]
        case "gives another shape":
            return [np.concatenate([np.ravel(each)] * 2) for each in results]
        case "gives other numbers":
            return [np.asarray(each + 1, each.dtype) for each in results]
        case "writes to its inputs":
            for each in arrays:
                each[...] = 0
            return results
        case _:
            return found
