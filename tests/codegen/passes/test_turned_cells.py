"""What follows a sum in its tile is computed in registers: across the lanes in squares, temporaries without memory."""

from __future__ import annotations

from random import Random

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from tests.support import examples
from workbench.codegen.nest.nest import Accumulate, Place, walk
from workbench.codegen.passes.pipeline import lower_nest
from workbench.codegen.trace.tracing import trace_touches
from workbench.lang.algebra.normal_form import constant
from workbench.schedules import Schedule
from workbench.schedules.recipes import default_schedule
from workbench.schedules.recipes.products import direct_convolution, packing
from workbench.target import Target

AVX512, AVX2 = Target("avx512"), Target("avx2")
WIDE = Target(vector_bits=512, vector_registers=32)
"""Vectors as wide as those of AVX512, in whatever instructions this processor has."""
LARGE = {"N": 1, "C": 32, "H": 34, "W": 34, "F": 64}
ENDS = {
    "bias and ReLU": "O(n,f,y,x) = max(Y(n,f,y,x) + b(f), 0)",
    "a sum with something else": "O(n,f,y,x) = max(Y(n,f,y,x) + R(n,f,y,x) + b(f), 0)",
    "a chain": "Z(n,f,y,x) = Y(n,f,y,x) * g(f) + b(f)\n V(n,f,y,x) = Z(n,f,y,x) + R(n,f,y,x)\n"
    " O(n,f,y,x) = min(max(V(n,f,y,x), 0), 6)",
    "a value that is used twice": "Z(n,f,y,x) = Y(n,f,y,x) + b(f)\n O(n,f,y,x) = Z(n,f,y,x) * sigmoid(Z(n,f,y,x))",
    "where a condition says so": "O(n,f,y,x) = x > 0 ? Y(n,f,y,x) + R(n,f,y,x-1) : Y(n,f,y,x) * g(f)"
    " where n in 0:N, f in 0:F, y in 0:H-2, x in 0:W-2",
    "in place": "Y(n,f,y,x) = max(Y(n,f,y,x), 0)\n O(n,f,y,x) = Y(n,f,y,x) * R(n,f,y,x)",
    "another type": "O(n,f,y,x) = bfloat16(Y(n,f,y,x) + b(f))",
    "a yes or no": "Z(n,f,y,x) = Y(n,f,y,x) > b(f)\n O(n,f,y,x) = Z(n,f,y,x) ? Y(n,f,y,x) : R(n,f,y,x)",
}


def convolution(end: str, kind: str = "float", outputs: str = "O") -> wb.Operator:
    lines = end.replace("\n", "\n    ")
    return wb.operator(f"""def f({kind}(N,C,H,W) I, {kind}(F,C,3,3) K, {kind}(F) b, {kind}(F) g,
        {kind}(N,F,H-2,W-2) R) -> ({outputs}) {{
    Y(n,f,y,x) +=! I(n,c,y+i,x+j) * K(f,c,i,j)
    {lines}
}}""")


def scheduled(op: wb.Operator, target: Target, **sizes: int) -> Schedule:
    return default_schedule(wb.lower(op, {n: v for n, v in sizes.items() if n in op.size_names}), target)


def registers(schedule: Schedule, target: Target) -> dict[str, list[Accumulate]]:
    """What holds the cells of each array."""
    nodes = [n for n in walk(lower_nest(schedule.program, schedule.tree, target)) if isinstance(n, Accumulate)]
    arrays = [x.cell.array for n in nodes for x in n.locals]
    return {a: [n for n in nodes if n.locals[0].cell.array == a] for a in arrays}


@pytest.fixture
def eager(monkeypatch) -> None:
    """Small sums count too."""
    for module in (packing, direct_convolution):
        monkeypatch.setattr(module, "WORK", 1)
    monkeypatch.setattr(direct_convolution, "DEPTH", 1)


@pytest.mark.parametrize("target", [AVX512, AVX2], ids=["avx512", "avx2"])
@pytest.mark.parametrize("kind", ["float", "double"])
def test_what_lies_across_the_lanes_goes_in_squares(kind: str, target: Target) -> None:
    schedule = scheduled(convolution(ENDS["a sum with something else"], kind), target, **LARGE)
    held = registers(schedule, target)
    assert all(node.loads and not node.stores for node in held["R"])
    assert all(node.stores and not node.loads for node in held["O"])
    text = wb.generate(schedule, target).source
    number = "four" if kind == "float" else "two"
    assert f"_take_{number}(&R[" in text
    assert f"_put_{number}(&O[" in text
    assert "Y[" not in text


@pytest.mark.parametrize("end", ["bias and ReLU", "a chain", "a value that is used twice", "in place"])
def test_temporaries_in_registers_have_no_memory(end: str) -> None:
    schedule = scheduled(convolution(ENDS[end]), AVX512, **LARGE)
    held = registers(schedule, AVX512)
    temporaries = {a.name for a in schedule.program.arrays.values() if a.role == "temporary" and a.scope == "global"}
    assert temporaries <= held.keys()
    assert not any(node.stores or node.loads for name in temporaries for node in held[name])
    workspace = wb.generate(schedule, AVX512).signature.workspace
    filters = 4 * 9 * 32 * 64
    assert workspace is not None
    assert 0 < (constant(workspace) or 0) <= filters


def test_what_somebody_else_reads_is_stored() -> None:
    both = scheduled(convolution(ENDS["bias and ReLU"], outputs="O, Y"), AVX512, **LARGE)
    assert all(node.stores for node in registers(both, AVX512)["Y"])
    later = ENDS["bias and ReLU"] + "\n s(n) +=! Y(n,f,y,x)"
    another = scheduled(convolution(later, outputs="O, s"), AVX512, **LARGE)
    assert "Y[" in wb.generate(another, AVX512).source
    small = {**LARGE, "H": 9, "W": 9}
    for outputs, end in (("O, Y", ENDS["bias and ReLU"]), ("O, s", later)):
        agree(scheduled(convolution(end, outputs=outputs), AVX512, **small), target=WIDE)


def test_a_local_array_in_registers_has_no_place() -> None:
    schedule = scheduled(convolution(ENDS["bias and ReLU"]), AVX512, **LARGE)
    staged = schedule | wb.stage("Y", "Y/x_o")
    nest = lower_nest(staged.program, staged.tree, AVX512)
    assert "Y_local" in staged.program.arrays
    assert "Y_local" not in {n.array for n in walk(nest) if isinstance(n, Place)}
    agree(staged, target=WIDE)


@pytest.mark.parametrize(("bits", "kind", "width"), [(512, "float", 13), (256, "float", 9), (128, "double", 4)])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_every_end_is_right(end: str, bits: int, kind: str, width: int, eager) -> None:
    target = Target(vector_bits=bits, cores=2, vector_registers=bits // 16)
    schedule = scheduled(convolution(end, kind), target, N=2, C=3, H=5, W=width, F=19)
    assert schedule.verdict
    agree(schedule, target=target)


def test_touches_are_those_of_the_statements(eager) -> None:
    """Registers are filled and go back once for each cell; what a statement touches is what it says."""
    schedule = scheduled(convolution(ENDS["a chain"]), AVX512, N=1, C=2, H=3, W=8, F=16)
    touches = [t for t in trace_touches(schedule, AVX512) if not t.statement]
    assert {(t.array, t.kind) for t in touches} >= {("R", "read"), ("O", "write")}
    cells = 16 * 6
    assert {t.element for t in touches if t.array == "O" and t.kind == "write"} == {*range(cells)}
    assert not [t for t in touches if t.array in ("Y", "Z", "V")]


def test_such_kernels_are_certified(eager) -> None:
    schedule = scheduled(convolution(ENDS["a chain"]), AVX2, N=1, C=2, H=4, W=8, F=16)
    assert wb.certify(schedule, AVX2).checked


CELLS = {"picture": "n,f,y,x", "row": "n,f,x", "groups": "n,q,f,y,x", "depthwise": "n,f,y,x", "product": "n,f",
         "channels last": "n,y,x,f"}  # fmt: skip
SUMS = {
    "picture": ("X(n,c,{s}*y+{d}*i,{s}*x+{d}*j) * K(f,c,i,j)", "N,C,{H},{W}", "F,C,{k},{k}"),
    "row": ("X(n,c,{s}*x+{d}*j) * K(f,c,j)", "N,C,{W}", "F,C,{k}"),
    "groups": ("X(n,q,c,{s}*y+{d}*i,{s}*x+{d}*j) * K(q,f,c,i,j)", "N,G,C,{H},{W}", "G,F,C,{k},{k}"),
    "depthwise": ("X(n,f,{s}*y+{d}*i,{s}*x+{d}*j) * K(f,i,j)", "N,F,{H},{W}", "F,{k},{k}"),
    "product": ("X(n,c) * K(c,f)", "N,C", "C,F"),
    "channels last": ("X(n,{s}*y+{d}*i,{s}*x+{d}*j,c) * K(i,j,c,f)", "N,{H},{W},C", "{k},{k},C,F"),
}
STEPS = ("max(V + b(f), 0)", "V * g(f) + b(f)", "min(max(V, 0), 6)", "V + R", "max(V + b(f) + R, 0)", "tanh(V) * R",
         "n > 0 ? V + R : V", "V > 0 ? V : V * b(f)", "V * 2 + g(f)")  # fmt: skip


def random_operator(random: Random) -> tuple[wb.Operator, dict[str, int]]:
    """Some sum of products, then one to three maps."""
    kind, form = random.choice(("float", "float", "double")), random.choice(list(SUMS))
    k, s, d = random.choice((1, 2, 3)), random.choice((1, 1, 2)), random.choice((1, 1, 2))
    high, wide = random.choice((1, 2, 3, 5, 8)), random.choice((1, 2, 3, 4, 5, 7, 8, 11, 14))
    known = {"s": s, "d": d, "k": k, "H": (high - 1) * s + (k - 1) * d + 1, "W": (wide - 1) * s + (k - 1) * d + 1}
    value, picture, filters = (part.format(**known) for part in SUMS[form])
    cells, ranges = CELLS[form], {"y": high, "x": wide}
    shape = ",".join(str(ranges.get(c) or {"n": "N", "f": "F", "q": "G"}[c]) for c in cells.split(","))
    bounds = ", ".join(f"{c} in 0:{n}" for c, n in ranges.items() if c in cells)
    steps = [random.choice(STEPS) for _ in range(random.choice((1, 1, 2, 3)))]
    lines = [f"V0({cells}) +=! {value}" + (f" where {bounds}" if bounds else "")]
    for at, step in enumerate(steps):
        name = "O" if at == len(steps) - 1 else f"V{at + 1}"
        lines.append(f"{name}({cells}) = " + step.replace("V", f"V{at}({cells})").replace("R", f"R({cells})"))
    given = f"{kind}({picture}) X, {kind}({filters}) K, {kind}(F) b, {kind}(F) g, {kind}({shape}) R"
    outputs = random.choice(("O", "O", "O", "O, V0"))
    op = wb.operator(f"def f({given}) -> ({outputs}) {{\n    " + "\n    ".join(lines) + "\n}")
    sizes = {"N": random.choice((1, 2, 3)), "C": random.choice((1, 3, 8)), "G": random.choice((1, 2, 3)),
             "F": random.choice((5, 8, 16, 17, 24, 33))}  # fmt: skip
    return op, sizes


@pytest.mark.parametrize("seed", range(examples(quick=3, ci=8, full=200)))
def test_random_sums_with_maps_behind_them_are_right(seed: int, eager) -> None:
    random = Random(seed)
    op, sizes = random_operator(random)
    bits = random.choice((128, 256, 512))
    target = Target(vector_bits=bits, cores=random.choice((1, 2, 3, 4)), vector_registers=bits // 16)
    schedule = scheduled(op, target, **sizes)
    assert schedule.verdict
    agree(schedule, target=target)
