"""Certificates: final nests are proved to compute their operators, and planted bugs are found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

import workbench as wb
from tests.small_sizes import MACHINE, small_schedule
from tests.support import examples
from workbench.certificates.certificate import certified
from workbench.codegen.passes.pipeline import lower_nest
from workbench.errors import CertificationError


def matmul(**sizes: int) -> wb.Schedule:
    return wb.schedule(wb.ops.load("matmul"), sizes=sizes)


SCATTER = dict(wb.ops.load("embedding_gradient").examples[-1])
SCHEDULES: dict[str, Callable[[], wb.Schedule]] = {
    "naive": lambda: matmul(M=3, N=4, K=5),
    "tiled": lambda: matmul(M=7, N=18, K=5) | wb.tile(m=3, n=16) | wb.unroll("m_i") | wb.vectorize("n_i"),
    "dot": lambda: matmul(M=3, N=2, K=45) | wb.vectorize("k") | wb.parallelize("m"),
    "packed": lambda: matmul(M=5, N=18, K=6) | wb.tile(n=8) | wb.stage("B", "n_o") | wb.vectorize("n_i"),
    "empty sum": lambda: matmul(M=3, N=2, K=0),
    "nothing": lambda: matmul(M=3, N=0, K=5),
    "seidel": lambda: wb.schedule(wb.ops.load("seidel_2d"), N=6, M=5, steps=2),
    "split sum": lambda: matmul(M=3, N=4, K=10) | wb.split_reduction("k", 4) | wb.parallelize("k_o"),
    "tiles of partial results": lambda: matmul(M=7, N=9, K=6) | wb.tile(k=2) | wb.split_reduction("k_o"),
    "atomic sum": lambda: matmul(M=3, N=4, K=10) | wb.atomic("C") | wb.parallelize("k"),
    "padded tiles": lambda: (
        matmul(M=6, N=9, K=5)
        | wb.decompose_reduction("C")
        | wb.tile({"C/m": 4, "C/n": 8, "C/k": 4})
        | wb.reorder("k_i", "m_i", "n_i")
        | wb.stage("C", "n_o")
        | wb.stage("A", "C/k_o")
        | wb.stage("B", "C/k_o")
        | wb.pad("C/k_o")
    ),
    "threads with panels": lambda: matmul(M=8, N=9, K=6) | wb.tile(m=4) | wb.stage("B", "m_o") | wb.parallelize("m_o"),
    "largest": lambda: wb.schedule(wb.ops.load("argmax"), M=3, N=20) | wb.vectorize("V/n"),
    "largest in parts": lambda: wb.schedule(wb.ops.load("argmax"), M=3, N=20) | wb.split_reduction("n", 4),
    "rows at once": lambda: wb.schedule(wb.ops.load("blur"), H=9, W=7) | wb.compute_at("R", "B/y"),
    "inlined": lambda: wb.schedule(wb.ops.load("blur"), H=9, W=7) | wb.inline("R"),
    "gather": lambda: wb.schedule(wb.ops.load("embedding"), V=9, D=11, N=5) | wb.vectorize("d"),
    "scatter": lambda: wb.schedule(wb.ops.load("embedding_gradient"), sizes=SCATTER),
}
CENTRED = """
void centred(int n, int m, TYPE d[n][m], TYPE mean[m]) {
  for (int j = 0; j < m; j++) {
    mean[j] = 0;
    for (int i = 0; i < n; i++) mean[j] += d[i][j];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      d[i][j] -= VALUE;
}
"""
CERTIFIED = (
    "gemm",
    "dot",
    "fourier",
    "online_softmax",
    "causal_attention",
    "lookup",
    "histogram",
    "permute_rows",
    "top_k",
)
CERTIFIED += ("matmul_bf16", "linear_int8", "life", "wavenet", "welford", "adam", "lu")
EVERY = tuple(wb.ops.list())


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_certified(name):
    assert wb.certify(SCHEDULES[name](), MACHINE).checked


@pytest.mark.parametrize("name", examples(quick=CERTIFIED[:3], ci=CERTIFIED, full=EVERY))  # type: ignore[type-var]
def test_the_library_is_certified_as_written_and_with_the_default_recipe(name):
    recipe = small_schedule(name)
    assert wb.certify(wb.schedule(wb.ops.load(name), sizes=dict(recipe.program.original.sizes)), MACHINE).checked
    assert wb.certify(recipe, MACHINE).checked


@pytest.mark.parametrize("value", ["mean[j]", "-mean[j]", "-(-mean[j])", "mean[i % m] * mean[j]", "3", "i"])
@pytest.mark.parametrize("dtype", ["float", "int", "unsigned"])
def test_what_is_subtracted_in_place_is_certified_in_every_order_of_isl(dtype, value):
    program = wb.lower(wb.from_c(CENTRED.replace("TYPE", dtype).replace("VALUE", value)), n=7, m=5)
    for fusion in ("none", "default", "max"):
        assert wb.certify(wb.autoschedule(program, fusion=fusion), MACHINE).checked
    assert wb.certify(wb.autoschedule(program, MACHINE), MACHINE).checked


def four_index_transform() -> str:
    """Four contractions in a row, each of five loops, as C that sets its sums to 0."""
    steps = [
        ("T1", "aqrs", "p", "A[p][q][r][s] * C4[p][a]"),
        ("T2", "abrs", "q", "T1[a][q][r][s] * C3[q][b]"),
        ("T3", "abcs", "r", "T2[a][b][r][s] * C2[r][c]"),
        ("B", "abcd", "s", "T3[a][b][c][s] * C1[s][d]"),
    ]

    def loop(name: str) -> str:
        return f"for (int {name} = 0; {name} < N; {name}++) "

    text = ""
    for array, dims, summed, value in steps:
        cell = array + "".join(f"[{d}]" for d in dims)
        text += "".join(map(loop, dims)) + f"{{ {cell} = 0; {loop(summed)}{cell} += {value}; }}\n"
    four, two = "[N]" * 4, "[N]" * 2
    arrays = [f"double {x}{four}" for x in ("A", "T1", "T2", "T3", "B")] + [f"double C{k}{two}" for k in (1, 2, 3, 4)]
    return f"void transform(int N, {', '.join(arrays)}) {{ {text} }}"


def test_a_four_index_transform_in_one_nest_is_certified_in_little_work():
    merged = wb.autoschedule(wb.from_c(four_index_transform()), fusion="max", N=5)
    with wb.poly.budget(12_000_000):
        assert wb.certify(merged, MACHINE).checked


def test_columns_centred_in_our_language_are_certified():
    text = "def centred(float(N,M) D) -> (mean, O) { mean(j) +=! D(i,j)  O(i,j) = D(i,j)  O(i,j) += -mean(j) }"
    for fusion in ("none", "default", "max"):
        assert wb.certify(wb.autoschedule(wb.operator(text), fusion=fusion, N=7, M=5), MACHINE).checked


def test_a_certificate_can_be_read(golden):
    golden(str(wb.certify(SCHEDULES["dot"](), MACHINE)))


def test_a_certificate_is_plain_data():
    data = json.loads(wb.certify(SCHEDULES["tiled"](), MACHINE).to_json())
    assert data["valid_for"] == [["K", 5], ["M", 7], ["N", 18]]
    assert data["trace"][-1] == "vectorize('n_i')"
    assert data["format"] == 3


def swapped(first: str, second: str) -> Callable[[str], str]:
    """Two lines of the text change places."""

    def change(text: str) -> str:
        a, b = (next(x for x in text.splitlines() if re.search(p, x)) for p in (first, second))
        return text.replace(a, "\0").replace(b, a).replace("\0", b)

    return change


def without(line: str) -> Callable[[str], str]:
    """A line, and the claim before it, are not there."""
    return lambda text: re.sub(r"\n *claim_\w+\[.*\n( */\*.*\n)?" + f".*{line}.*", "", text, count=1)


def doubled(line: str) -> Callable[[str], str]:
    """A line, and the claim before it, are there twice."""
    return lambda text: re.sub(r"(\n *claim_\w+\[.*\n( */\*.*\n)?" + f".*{line}.*)", r"\1\1", text, count=1)


def moved_to_end(line: str) -> Callable[[str], str]:
    """A line and its claim come after the blocks that follow."""

    def change(text: str) -> str:
        found = re.search(r"\n *claim_\w+\[.*\n( */\*.*\n)?" + f".*{line}.*", text)
        assert found
        rest = text.replace(found[0], "", 1)
        place = rest.rindex("\n        }\n    }\n    return")
        return rest[:place] + found[0] + rest[place:]

    return change


def moved_claim(loop: str) -> Callable[[str], str]:
    """The claim to be parallel stands in another loop."""

    def change(text: str) -> str:
        bare = text.replace("claim_parallel[0] = 0;", "", 1)
        return re.sub(rf"(for \(int64_t {loop} = .*\{{)", r"\1 claim_parallel[0] = 0;", bare)

    return change


def declared_before(line: str, loop: str) -> Callable[[str], str]:
    """A declaration stands before a loop instead of in it."""

    def change(text: str) -> str:
        found = re.search(f"\n *{line}.*", text)
        assert found
        return text.replace(found[0], "", 1).replace(loop, found[0] + "\n" + loop, 1)

    return change


def ones_for_zeros(text: str) -> str:
    """What fills the panels up is 1."""
    return re.sub(r"([AB]_local\[.*\]) = 0\.0f;", r"\1 = 1.0f;", text)


def replaced(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, 1)


BUGS = {
    "off by one in a tail": ("tiled", replaced("< wb_min_i64(8, wb_min_i64(18", "< wb_min_i64(8, wb_min_i64(17")),
    "a whole vector for a rest": ("tiled", replaced("< wb_min_i64(8, wb_min_i64(18 - 16 * n_o, 16) - n_i)", "< 8")),
    "swapped loops": ("seidel", swapped(r"for \(int64_t i = 1", r"for \(int64_t j = 1")),
    "wrong stride": ("tiled", replaced("    C[(3 * m_o + m_i)*18 ", "    C[(3 * m_o + m_i)*17 ")),
    "dropped initialisation": ("dot", without(r"C\[m\*2 \+ n\] = 0\.0f;")),
    "double accumulation": ("dot", doubled(r"C_r3\[0\] \+= ")),
    "wrong statement order": ("dot", moved_to_end(r"C\[m\*2 \+ n\] = 0\.0f;")),
    "a missing guard": ("tiled", replaced("m_i < wb_min_i64(7 - 3 * m_o, 3)", "m_i < 3")),
    "lanes beyond the end": ("tiled", replaced("/ 8 * 8; n_i += 8", "/ 8 * 8 + 8; n_i += 8")),
    "a partial sum not combined": ("dot", without(r"C\[m\*2 \+ n\] \+= C_r2\[k_lane\];")),
    "wrong array": ("tiled", replaced("* B[k*18", "* A[k*18")),
    "wrong operator of a combination": ("dot", replaced("C[m*2 + n] += C_r2", "C[m*2 + n] *= C_r2")),
    "wrong operator of an update": ("dot", replaced("C_r3[0] +=", "C_r3[0] *=")),
    "wrong cell of a write-back": ("dot", replaced("C[m*2 + n] = C_r3[0]", "C[m*2] = C_r3[0]")),
    "a partial sum that begins with 1": ("dot", replaced("C_r2[k_lane] = 0.0f", "C_r2[k_lane] = 1.0f")),
    "another expression": ("tiled", replaced("* B[k*18", "+ B[k*18")),
    "a false claim": ("naive", replaced("+ k] = 0;", "+ 4 - k] = 0;")),
    "a panel filled from the wrong place": ("packed", replaced("= B[k*18 + n]", "= B[k*18 + n + 1]")),
    "partial results combined twice": ("dot", doubled(r"C\[m\*2 \+ n\] \+= C_r2\[k_lane\];")),
    "a partial result of the lane beside": ("dot", replaced("C[m*2 + n] += C_r2[k_lane]", "C[m*2 + n] += C_r2[0]")),
    "partial results that never begin": ("dot", replaced("C_r2[k_lane] = 0.0f;", ";")),
    "partial results beyond their array": ("dot", replaced("C_r2[k_lane] = 0.0f", "C_r2[k_lane + 1] = 0.0f")),
    "one part of a sum left out": ("split sum", replaced("k_o = 0; k_o < 3", "k_o = 1; k_o < 3")),
    "fields of different lanes": ("largest", replaced("wb_b_j = I_r[n_lane]", "wb_b_j = I_r[7 - n_lane]")),
    "a field that begins with 0": ("largest", replaced("I_r[n_lane] = 2147483647", "I_r[n_lane] = 0")),
    "a field read too late": ("largest", replaced("const float wb_a_v = V_r2[0]", "const float wb_a_v = V[m]")),
    "a parallel loop that carries a sum": ("dot", moved_claim("k_lane")),
    "padding that is not the identity": ("padded tiles", ones_for_zeros),
    "a sum of threads that is not atomic": ("atomic sum", replaced("claim_atomic[0] = 0;", "")),
    "threads that share a panel": ("threads with panels", declared_before("float B_local", "    for (int64_t m_o")),
    "a gather from the wrong row": ("gather", replaced("idx_v*11", "idx_v*10")),
    "a gather with another index": ("gather", replaced("= idx[n]", "= idx[0]")),
    "a row of the wrong iteration": ("rows at once", replaced("(R_local[", "(R_local[1 + ")),
}  # fmt: skip


@pytest.mark.parametrize("name", BUGS)
def test_planted_bugs_are_found(name):
    which, change = BUGS[name]
    schedule = SCHEDULES[which]()
    nest = lower_nest(schedule.program, schedule.tree, MACHINE)
    text = certified(schedule, nest).text
    assert change(text) != text
    with pytest.raises(CertificationError):
        certified(schedule, nest, change)


def test_a_kernel_keeps_its_certificate_beside_its_library():
    kernel = wb.build(matmul(M=3, N=4, K=5))
    found = kernel.certificate
    stored = json.loads(kernel.library.with_suffix(".certificate.json").read_text(encoding="utf-8"))
    assert stored == json.loads(found.to_json())


def test_what_cannot_be_certified_is_said():
    with pytest.raises(CertificationError, match="bound sizes; give M, K, N"):
        wb.certify(wb.schedule(wb.ops.load("matmul")))
    with pytest.raises(CertificationError, match="takes a Schedule"):
        wb.certify(wb.ops.load("matmul"))
