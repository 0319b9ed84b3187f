"""Features of the recorded points anew: python -m bench.tuning.replays.featuring [space ...].

To be run where the model of features has changed.  Seconds stay as they were measured; on another
processor than theirs the features are those of that one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from os import cpu_count

import numpy as np

import workbench as wb
from bench.tuning.replays.recording import FOLDER, recorded
from bench.tuning.replays.spaces import SPACES
from workbench.tune.models.features import features_of
from workbench.tune.problem import problem_of

Places = Sequence[Sequence[int]]


def features(name: str, sizes: Mapping[str, int], places: Places) -> list[dict[str, float] | None]:
    """Of points of a space, by their places; None for one that is no legal schedule."""
    sketch, found = SPACES[name].make(**sizes), list[dict[str, float] | None]()
    with wb.settings(threads=1):
        target = problem_of(sketch.at().program.original, "c").target
        for place in places:
            try:
                found.append(features_of(sketch.at(sketch.space.at(place)), target))
            except wb.WorkbenchError:
                found.append(None)
    return found


def renew(name: str, pool: ProcessPoolExecutor, parts: int) -> int:
    """Write the features of a space's recordings anew; how many numbers changed."""
    about, recordings = recorded(name)
    changed = 0
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as kept:
        arrays = {key: kept[key] for key in kept.files}
    for number, one in enumerate(recordings):
        places, table = one.index.tolist(), arrays[f"features{number}"].copy()
        jobs = [pool.submit(features, name, dict(one.sizes), places[part::parts]) for part in range(parts)]
        for part, job in enumerate(jobs):
            for row, own in zip(range(part, len(places), parts), job.result(), strict=True):
                if own is not None and not np.isnan(table[row]).all():
                    new = np.array([own[column] for column in about["features"]], "f4")
                    changed += int((~np.isclose(new, table[row], rtol=1e-4, atol=1e-4)).sum())
                    table[row] = new
        arrays[f"features{number}"] = table
    np.savez_compressed(FOLDER / f"{name}.npz", **arrays)
    return changed


def main() -> None:
    parts = cpu_count() or 1
    with ProcessPoolExecutor(parts) as pool:
        for name in sys.argv[1:] or SPACES:
            print(f"{name}: {renew(name, pool, 4 * parts)} features changed", flush=True)


if __name__ == "__main__":
    main()
