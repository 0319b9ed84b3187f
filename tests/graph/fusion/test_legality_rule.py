"""Groups by legality: what a group keeps out of memory, and the reason of each cut."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.errors import ModelError
from workbench.graph import model
from workbench.graph.fusion.fusing import fused
from workbench.graph.passes.fuse import fuse

HEAD = """
def relu2(float(M,N) x) -> (y) { y(i,j) = max(x(i,j), 0.0) }
def add2(float(M,N) x, float(M,N) z) -> (y) { y(i,j) = x(i,j) + z(i,j) }
def less(float(M,N) x, float(M) r) -> (y) { y(i,j) = x(i,j) - r(i) }
def over(float(M,N) x, float(M) r) -> (y) { y(i,j) = x(i,j) / r(i) }
def bias2(float(M,N) x, float(N) b) -> (y) { y(i,j) = x(i,j) + b(j) }
def turn(float(M,N) x) -> (y) { y(j,i) = x(i,j) }
def rows(float(M,N) x) -> (y) { y(i) +=! x(i,j) }
def most(float(M,N) x) -> (y) { y(i) max=! x(i,j) }
def columns(float(M,N) x) -> (y) { y(j) +=! x(i,j) }
def expo(float(M,N) x) -> (y) { y(i,j) = exp(x(i,j)) }
def scan(float(M,N) x) -> (float(M,N) y) { y(i,j) = x(i,j) for t in 1:M { y(t,j) = y(t-1,j) + x(t,j) } }
def blur(float(M,N) x) -> (y) { y(i,j) = x(i-1,j) + x(i,j) + x(i+1,j) }
def pick(float(M,N) x, int32(K) at) -> (y) { y(k,j) = x(at(k),j) }
def halves(float(M,N) x) -> (low, high) { low(i,j) = min(x(i,j), 0.0)  high(i,j) = max(x(i,j), 0.0) }
"""
IN = "x: float32[512, 768], w: float32[768, 512], v: float32[512, 768], b: float32[512], at: int32[64]"
# Graph → its groups of more than one call, and where their values stay.
GRAPHS = {
    "softmax in parts": (
        "%e = expo(less(x, most(x)))\nover(%e, rows(%e))",
        {
            "most+less+expo+rows+over": {
                "most": "registers", "less": "registers", "expo": "rows of 768", "rows": "registers",
            }
        },
    ),
    "a norm behind a sum": (
        "layer_norm(add2(x, v), const#0, const#0, 0.1)", {"add2+layer_norm": {"add2": "rows of 768"}},
    ),
    "a value that two take": (
        "%r = relu2(x)\n(rows(%r), add2(%r, v))",
        {"relu2+rows+add2": {"relu2": "registers"}},
    ),
    "two exits": ("%r = relu2(x)\n(%r, add2(%r, v))", {"relu2+add2": {"relu2": "registers"}}),
    "a product and what follows it": (
        "relu2(bias2(matmul(x, w), b))", {"matmul+bias2+relu2": {"matmul": "registers", "bias2": "registers"}},
    ),
    "two parts": (
        "%h = halves(x)\nadd2(relu2(%h.0), %h.1)",
        {"halves+relu2+add2": {"halves": "registers", "relu2": "registers"}},
    ),
    "rows that data choose": ("relu2(pick(x, at))", {"pick+relu2": {"pick": "registers"}}),
}  # fmt: skip
# Graph → words of the reason why its two calls stay apart.
CUTS = {
    "sums over columns, then rows": ("bias2(x, columns(turn(w)))", ("cannot stand outside", "as a whole", "no row")),
    "two products": ("matmul(matmul(x, w), x)", ("product too",)),
    "rows of a product": ("softmax(matmul(x, w))", ("different blocks",)),
    "what a product reads": ("matmul(relu2(x), w)", ("again and again",)),
    "a window": ("blur(relu2(x))", ("as a whole",)),
    "a recurrence over rows": ("scan(relu2(x))", ("as a whole", "no row")),
    "a transposition before sums": ("softmax(turn(w))", ("across memory",)),
}


def made(body: str):
    import numpy as np

    return fused(model(f"{HEAD}\nfn main({IN}) {{\n{body}\n}}", [np.ones(768, "float32")] if "const#0" in body else []))


@pytest.mark.parametrize("name", GRAPHS)
def test_a_group_keeps_its_values_near(name):
    body, expected = GRAPHS[name]
    result = made(body)
    found = {"+".join(g.names): {k.slot[0].function.operator.name: k.where for k in g.kept} for g in result.groups}
    assert found == expected, str(result)
    assert all(g.bytes_saved > 0 for g in result.groups)


@pytest.mark.parametrize("name", CUTS)
def test_a_cut_has_its_reason(name):
    body, words = CUTS[name]
    result = made(body)
    reasons = [cut.reason for cut in result.cuts]
    assert any(word in reason for word in words for reason in reasons), reasons


def test_a_way_out_and_back_is_no_group():
    result = made("%r = relu2(x)\n%s = matmul(matmul(%r, w), x)\nadd2(%r, %s)")
    home = {call: number for number, group in enumerate(result.groups) for call in group.calls}
    assert [g.names for g in result.groups] == [["matmul", "add2"]]
    assert home


def test_default_schedules_of_groups_are_legal():
    for body, _ in GRAPHS.values():
        for group in made(body).groups:
            assert wb.autoschedule(group.operator).verdict


def test_one_definition_has_one_name():
    result = made("%a = relu2(bias2(matmul(x, w), b))\n%c = relu2(bias2(matmul(v, w), b))\n(%a, %c)")
    assert [g.operator.name for g in result.groups] == ["fused_matmul_bias2_relu2"] * 2
    assert len(result.model.operators) == 1


def test_the_pass_gives_the_model_of_the_result():
    text = f"{HEAD}\nfn main({IN}) {{ relu2(bias2(matmul(x, w), b)) }}"
    assert fuse().apply(model(text)) == fused(model(text)).model
    assert fuse(rule="relay").apply(model(text)) == fused(model(text), rule="relay").model


def test_an_unknown_rule_is_an_error():
    with pytest.raises(ModelError, match=r"unknown rule 'best'.*legality"):
        fused(model("fn main(x: float32[n]) { softplus(x) }"), rule="best")  # type: ignore[arg-type]
