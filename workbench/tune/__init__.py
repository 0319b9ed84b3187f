"""Tuning: spaces are searched, candidates measured, and everything is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.face import deferred

if TYPE_CHECKING:
    from workbench.tune.measuring.dask_runner import dask
    from workbench.tune.measuring.local_runner import LocalRunner
    from workbench.tune.measuring.runner import Limits
    from workbench.tune.searching import searchers
    from workbench.tune.stored_studies import stored
    from workbench.tune.storing.database import Database
    from workbench.tune.study import Study
    from workbench.tune.task_scheduler import Studies, many
    from workbench.tune.trials import Trial
    from workbench.tune.tuning import autotune

# Which submodule gives a name.
NAMES = {
    "autotune": "tuning", "Database": "storing.database", "LocalRunner": "measuring.local_runner",
    "Limits": "measuring.runner", "dask": "measuring.dask_runner",
    "many": "task_scheduler", "searchers": "searching", "Studies": "task_scheduler",
    "stored": "stored_studies", "Study": "study", "Trial": "trials",
}  # fmt: skip

__all__ = [
    "Database", "Limits", "LocalRunner", "Studies", "Study", "Trial", "autotune", "dask", "many", "searchers", "stored",
]  # fmt: skip

__getattr__ = deferred(__name__, NAMES)
