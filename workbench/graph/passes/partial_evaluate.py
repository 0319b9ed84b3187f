"""`partial_evaluate`: what the model tells of its own control flow is decided now."""

from __future__ import annotations

from workbench.graph.models import Model
from workbench.graph.passes.dead_code import dead_code
from workbench.graph.passes.support.model_pass import ModelPass
from workbench.graph.passes.support.partial.evaluator import Evaluator
from workbench.graph.passes.support.rewriting import reached
from workbench.graph.terms.walking import run
from workbench.records import record


@record
class PartialEvaluate(ModelPass):
    """Known `if`, `match`, functions and cells vanish: the model is evaluated as far as it is known.

    before → after:  let f = fn(y) { g(y) }; f(x)   →   g(x)
                     let r = ref(a); let _ = r := b; !r   →   b

    A call of a function that calls itself becomes its body as long as what decides how often is known (a loop over a
    list of known length), and stays a call otherwise.  Cells vanish that no branch writes to and no function that stays
    uses.  Everything is computed in the same order; arrays are left to `fold_constants`, numbers are not (Jones,
    Gomard, Sestoft: Partial Evaluation, 1993).  At most `most_calls` calls become bodies.
    """

    most_calls: int = 2000

    def apply(self, model: Model) -> Model:
        evaluator = Evaluator(model, self.most_calls)
        made = dict(model.functions)
        for name in reached(model):
            made[name] = run(evaluator.function(name))
        after = dead_code().apply(model.with_functions(made).graph_form())
        return model if after == model else after


def partial_evaluate(*, most_calls: int = 2000) -> PartialEvaluate:
    """Known choices, functions and cells vanish; so many calls may become bodies."""
    return PartialEvaluate(most_calls)
