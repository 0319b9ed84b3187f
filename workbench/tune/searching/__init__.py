"""Searchers: what proposes the points of a space, by name."""

from __future__ import annotations

from collections.abc import Callable

from workbench.errors import WorkbenchError, shown, unknown_name
from workbench.tune.searching.annealing import AnnealingSearcher
from workbench.tune.searching.contract import Searcher, Surroundings, Told
from workbench.tune.searching.genetic import EvolutionarySearcher, GeneticSearcher
from workbench.tune.searching.learned import LearnedSearcher
from workbench.tune.searching.optuna_search import OptunaSearcher
from workbench.tune.searching.unlearned import GridSearcher, RandomSearcher, RankingSearcher

__all__ = ["Searcher", "Surroundings", "Told", "make_searcher", "searchers"]

Make = Callable[[Surroundings], Searcher]

SEARCHERS: dict[str, type[Searcher]] = {
    own.name: own
    for own in (
        LearnedSearcher, AnnealingSearcher, EvolutionarySearcher, RankingSearcher, GeneticSearcher, RandomSearcher,
        GridSearcher, OptunaSearcher,
    )
}  # fmt: skip


def searchers() -> dict[str, str]:
    """The names that `wb.autotune(..., searcher=...)` knows, each with what it does."""
    return {name: own.summary for name, own in SEARCHERS.items()}


def make_searcher(wanted: str | Make, surroundings: Surroundings) -> Searcher:
    """The searcher of a name ("optuna:cmaes": with a sampler), or that a function makes; WorkbenchError for others."""
    if callable(wanted):
        made = wanted(surroundings)
        if not (callable(getattr(made, "ask", None)) and callable(getattr(made, "tell", None))):
            raise WorkbenchError(f"searcher={shown(wanted)} made {shown(made)}, which has no ask and tell")
        return made
    name, _, sampler = wanted.partition(":") if isinstance(wanted, str) else (wanted, "", "")
    if name not in SEARCHERS or (sampler and name != "optuna"):
        raise WorkbenchError(unknown_name("searcher", wanted, SEARCHERS))
    return OptunaSearcher(surroundings, sampler or "tpe") if name == "optuna" else SEARCHERS[name](surroundings)
