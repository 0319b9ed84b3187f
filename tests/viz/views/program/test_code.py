"""`viz.code`: every character of the source is there, in colours, with line numbers."""

from __future__ import annotations

import re
from html import unescape

import pytest

import workbench as wb
from tests.viz.values import naive, parsed, tiled
from workbench import viz
from workbench.errors import WorkbenchError
from workbench.viz.views.program.c_tokens import Run, code_lines


@pytest.fixture(scope="module")
def kernel():
    return wb.generate(tiled(), "c")


def test_no_character_is_lost(kernel):
    lines = viz.code(kernel).data
    assert "\n".join("".join(run.text for run in line.runs) for line in lines) == kernel.source.rstrip("\n")


def test_the_html_holds_the_source_unchanged(kernel):
    html = viz.code(kernel).html
    plain = unescape(re.sub(r"<[^>]*>", "", re.sub(r'<span class="wb-l">\d+</span>', "", html)))
    assert kernel.source.rstrip("\n").partition("int matmul(")[2] in plain


def test_roles():
    (line,) = code_lines('for (int64_t m = 0; m < 4; m++) { /* C: x */ f("a\\"b", 1.5e-3f); }', ["m"], {"C": "s1"})
    roles = [(run.text, run.role) for run in line.runs if run.role]
    assert roles == [
        ("for", "keyword"), ("int64_t", "type"), ("m", "loop"), ("0", "number"), ("m", "loop"), ("4", "number"),
        ("m", "loop"), ("/* C: x */", "s1"), ('"a\\"b"', "number"), ("1.5e-3f", "number"),
    ]  # fmt: skip


def test_a_comment_over_several_lines():
    lines = code_lines("a /* b\n c for\n d */ for\n")
    assert [run for line in lines for run in line.runs] == [
        Run("a "), Run("/* b", "comment"), Run(" c for", "comment"), Run(" d */", "comment"), Run(" "),
        Run("for", "keyword"),
    ]  # fmt: skip


def test_directives_are_one_run():
    (line,) = code_lines("#pragma omp parallel for num_threads(threads)")
    assert line.runs == (Run("#pragma omp parallel for num_threads(threads)", "directive"),)


def test_what_stands_before_the_function_is_folded(kernel):
    start = kernel.start
    assert kernel.source.split("\n")[start].startswith("int matmul(")
    html = viz.code(kernel).html
    assert html.index("<details>") < html.index(f"{start} lines before the function") < html.index("</details>")


def test_of_several_kernels_for_a_gpu_the_first_is_where_the_code_begins():
    rows = wb.operator("def f(float(N,M) A) -> (R) { R(n) max=! A(n,m) }")
    start = wb.schedule(rows, N=24, M=40) | wb.decompose_reduction("R")
    for statement in ("R.init", "R"):
        start |= wb.split(f"{statement}/n", 6)
        start = start | wb.bind(f"{statement}/n_o", "block.x") | wb.bind(f"{statement}/n_i", "thread.x")
    kernel = wb.generate(start, "cuda")
    assert kernel.source.split("\n")[kernel.start].startswith("f_R_init(")


def test_the_domain_stands_beside_the_code(kernel):
    html = viz.code(kernel).html
    assert html.index("iteration domain of C.init, C") < html.index("lines before the function")


def test_the_drawing(kernel):
    picture = viz.code(kernel)
    texts = [e.text for e in parsed(picture.svg).iter("{http://www.w3.org/2000/svg}text")]
    assert "m_o" in texts
    assert "for" in texts
    assert picture.text == kernel.source.rstrip("\n")


def test_a_kernel_without_a_schedule_shows_its_text():
    from dataclasses import replace

    bare = replace(wb.generate(naive(M=2, N=2, K=2), "c"), schedule=None)
    assert "int" in viz.code(bare).html


@pytest.mark.parametrize("target", ["c", "cuda"])
def test_a_schedule_shows_the_text_that_is_generated_of_it(target):
    schedule = wb.schedule(wb.ops.conv2d, stride=1, pad=1, dilation=1) | wb.bind("O/n", "block.x")
    schedule = schedule | wb.bind("P/n", "block.x")
    assert str(viz.code(schedule, target)) == wb.generate(schedule, target).source.rstrip("\n")


def test_what_has_no_text_is_refused():
    with pytest.raises(WorkbenchError, match=r"takes a Schedule|shows a Schedule"):
        viz.code(wb.ops.matmul)


@pytest.mark.parametrize("target", ["c", "cuda"])
def test_the_body_of_a_kernel_begins_with_its_function(target):
    schedule = wb.autoschedule(wb.ops.softmax, target, M=64, N=64)
    kernel = wb.generate(schedule, target)
    assert kernel.source.rstrip().endswith(kernel.body.rstrip())
    assert kernel.body.count("\n") == kernel.source.rstrip("\n").count("\n") - kernel.start
    assert kernel.name in kernel.body
    assert "#include" not in kernel.body
    assert "#include" in kernel.source or "typedef" in kernel.source
