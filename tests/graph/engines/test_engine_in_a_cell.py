"""An engine of one's own in one cell of a notebook: patterns, a predicate, compile, save and load."""

from __future__ import annotations

import numpy as np

import workbench as wb

CELL = '''
import json
import numpy as np


@wb.engine("blas", patterns=[
    wb.graph.engines.pattern("bias_relu", arguments=["matmul"]),   # first a product with its epilogue
    wb.ops.load("matmul"),                                         # then whatever is defined like a product
])
class Blas:
    """Products in NumPy's BLAS, with bias and relu behind them where they stand there."""

    def supports(self, site):
        wanted = {"float32", "float64"}
        return set(site.dtypes) <= wanted or f"BLAS has no {', '.join(set(site.dtypes) - wanted)}"

    def compile(self, region):
        return self.runner(region, [self.kind(step) for step in region.steps])

    def kind(self, step):
        return "bias_relu" if step.operator.name == "bias_relu" else "matmul"

    def runner(self, region, kinds):
        def run(*arrays):
            values = {**region.constants, **dict(zip(region.inputs, arrays))}
            for kind, step in zip(kinds, region.steps):
                a, b = (values[each] for each in step.arguments)
                values[step.results[0]] = a @ b if kind == "matmul" else np.maximum(a + b, 0)
            return tuple(values[each] for each in region.results)

        run.kinds = kinds
        return run

    def save(self, compiled, folder):
        (folder / "kinds.json").write_text(json.dumps(compiled.kinds))

    def load(self, region, folder):
        return self.runner(region, json.loads((folder / "kinds.json").read_text()))
'''


def test_an_engine_fits_into_a_cell_of_sixty_lines():
    assert len(CELL.strip().splitlines()) <= 60
    scope = {"wb": wb}
    exec(CELL, scope)
    random = np.random.default_rng(0)
    weights = [random.standard_normal(shape).astype("float32") for shape in ((8, 6), (6,), (6, 4))]
    model = wb.model(
        """
        def times(float(M,K) x, float(K,N) y) -> (z) { z(i,j) +=! y(k,j) * x(i,k) }
        fn main(x: float32[n, 8]) { softmax(times(bias_relu(matmul(x, const#0), const#1), const#2)) }
        """,
        constants=weights,
    )
    partition = wb.partition(model, [scope["Blas"]], by="rules", host="interpreter", on_failure="raise", check=True)
    (region,) = partition.regions.values()
    assert [site.name for site in region.calls] == ["matmul", "bias_relu", "times"]
    assert [each.reasons for each in partition.left] == [{"blas": "no pattern of it fits"}]
    x = random.standard_normal((5, 8)).astype("float32")
    np.testing.assert_allclose(partition.evaluate(x), model.evaluate(x), rtol=1e-5)
    again = wb.partition(model, [scope["Blas"]], by="rules", host="interpreter", on_failure="raise")
    np.testing.assert_allclose(again.evaluate(x), model.evaluate(x), rtol=1e-5)
