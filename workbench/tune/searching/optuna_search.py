"""Optuna's samplers through their own ask and tell: `searcher="optuna"` is TPE, `"optuna:cmaes"` names another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any

from workbench.errors import WorkbenchError, unknown_name
from workbench.schedules.sketches.space import Decision, Point
from workbench.tune.searching.contract import Index, Searcher, Surroundings, Told

SAMPLERS = {"tpe": "TPESampler", "gp": "GPSampler", "cmaes": "CmaEsSampler", "random": "RandomSampler"}
NEEDED = {"gp": "torch", "cmaes": "cmaes"}
"""What samplers load when they are first asked."""

ASKED_AT_MOST = 64
"""Points that were seen already, in a row, after which a random one is taken."""


class OptunaSearcher(Searcher):
    """A sampler of Optuna; each decision is a categorical parameter by the place of its option.

    CMA-ES knows no categories, and would draw them at random: for it a decision among numbers is a whole number, the
    place among the sorted options.
    """

    name, summary = "optuna", "Optuna's TPE; optuna:gp, optuna:cmaes, optuna:random name its other samplers"

    def __init__(self, surroundings: Surroundings, sampler: str = "tpe") -> None:
        super().__init__(surroundings)
        try:
            import optuna
        except ImportError as error:
            raise WorkbenchError("the searcher 'optuna' needs Optuna: pip install optuna") from error
        if sampler not in SAMPLERS:
            raise WorkbenchError(unknown_name("sampler of Optuna", sampler, SAMPLERS))
        if (package := NEEDED.get(sampler)) is not None and find_spec(package) is None:
            raise WorkbenchError(f"the searcher 'optuna:{sampler}' needs {package}: pip install {package}")
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.sorted = sampler == "cmaes"
        quiet = {"warn_independent_sampling": False} if self.sorted else {}
        chosen = getattr(optuna.samplers, SAMPLERS[sampler])(seed=self.draw.randrange(1 << 30), **quiet)
        self.study = optuna.create_study(sampler=chosen)
        self.failed = optuna.trial.TrialState.FAIL
        self.create = optuna.trial.create_trial
        self.distributions: dict[str, Any] = {
            d.name: optuna.distributions.IntDistribution(0, len(d.options) - 1) if self._by_rank(d)
            else optuna.distributions.CategoricalDistribution(range(len(d.options))) for d in self.space.decisions
        }  # fmt: skip
        self.asked: dict[Index, Any] = {}

    def _by_rank(self, decision: Decision) -> bool:
        """Whether the sampler sees a decision as a number."""
        return self.sorted and decision.ordered

    def _place(self, decision: Decision, value: int) -> int:
        """The place of the option that a parameter's value stands for."""
        return decision.ascending[value] if self._by_rank(decision) else value

    def _value(self, decision: Decision, place: int) -> int:
        """The parameter's value for the option at a place."""
        return decision.ascending.index(place) if self._by_rank(decision) else place

    def propose(self, count: int) -> Iterable[Point]:
        found: list[Point] = []
        for _ in range(count * ASKED_AT_MOST):
            if len(found) == count:
                break
            trial = self.study.ask(self.distributions)
            index = tuple(self._place(d, trial.params[d.name]) for d in self.space.decisions)
            point = self.space.at(index)
            allowed = all(c.holds(point) for c in self.space.constraints)
            if self.taken(index) or index in self.asked or not allowed:
                self.study.tell(trial, state=self.failed)
                continue
            self.asked[index] = trial
            found.append(point)
        return found

    def learn(self, results: Sequence[Told]) -> None:
        for told in results:
            index = self.space.index(told.point)
            trial = self.asked.pop(index, None)
            if trial is not None:
                if told.seconds is None:
                    self.study.tell(trial, state=self.failed)
                else:
                    self.study.tell(trial, told.seconds)
            elif told.seconds is not None:
                pairs = zip(self.space.decisions, index, strict=True)
                params = {d.name: self._value(d, place) for d, place in pairs}
                self.study.add_trial(self.create(params=params, distributions=self.distributions, value=told.seconds))
