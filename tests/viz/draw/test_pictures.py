"""Files, themes, bundles; nothing that was typed gets into markup unescaped; nothing comes from the network."""

from __future__ import annotations

import math
import re
from base64 import b64decode
from dataclasses import replace
from io import BytesIO
from itertools import combinations

import numpy as np
import pytest
from PIL import Image

import workbench as wb
from tests.viz.values import naive, padded_conv, parsed, refused, seidel, tiled
from workbench import viz
from workbench.errors import WorkbenchError
from workbench.runtime import Finding, Measurement, Report, Verification
from workbench.viz.draw.markup import Markup, element, escape
from workbench.viz.draw.palette import (
    ARRAY_COLOURS,
    COLOURS,
    ROUND,
    STATEMENT_COLOURS,
    array_glyph,
    array_role,
    array_shape,
    colour,
    glyph,
    shape,
    statement_role,
)
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.png import drawn
from workbench.viz.draw.scene import Box, Line, Marker, Path, Polygon, Scene, Text

VALUES = {
    "operator": lambda: wb.ops.conv2d,
    "program": lambda: wb.lower(wb.ops.matmul),
    "conv": padded_conv,
    "stencil": lambda: wb.lower(wb.ops.jacobi_2d),
    "triangle": lambda: wb.lower(wb.ops.trmm),
    "attention": lambda: wb.lower(wb.ops.attention),
    "schedule": tiled,
    "recipe": lambda: wb.autoschedule(wb.ops.softmax, M=64, N=512),
    "verdict": lambda: refused(naive(), wb.parallelize("k")),
    "legal": lambda: wb.check(tiled()),
    "kernel": lambda: wb.generate(tiled(), "c"),
    "measurement": lambda: Measurement(1e-3, 0.9e-3, 1.2e-3, 10, 100, 2_000_000, 12_000),
    "verification": lambda: Verification(1e-7, 1e-6, True, "C", (0, 3), True),
    "report": lambda: Report((Finding("gcc", "gcc 12", "kernels"), Finding("GPU", "", "CUDA", "a device"))),
    "plan": lambda: wb.ops.matmul.plan(np.ones((4, 5), "f"), np.ones((5, 6), "f")),
}


@pytest.fixture(params=VALUES, scope="module")
def value(request):
    return VALUES[request.param]()


def test_a_notebook_gets_words_and_html(value):
    bundle = value._repr_mimebundle_()
    assert bundle["text/plain"].strip()
    assert bundle["text/html"].startswith('<div class="wb">')


def test_drawings_are_well_formed_and_have_a_png(value):
    bundle = value._repr_mimebundle_()
    assert ("image/svg+xml" in bundle) == ("image/png" in bundle)
    if "image/svg+xml" in bundle:
        parsed(bundle["image/svg+xml"])
        image = Image.open(BytesIO(b64decode(bundle["image/png"])))
        assert min(image.size) > 40
        assert len(image.convert("RGB").getcolors(1 << 20)) > 3


def test_html_is_balanced_and_has_neither_scripts_nor_addresses(value):
    html = viz.picture(value).html
    assert not re.search(r"<script|javascript:|\son\w+=|@import|url\(", html)
    assert set(re.findall(r"https?://[^\"'\s<]+", html)) <= {"http://www.w3.org/2000/svg"}
    for tag in ("div", "table", "span", "pre", "details", "svg", "math", "g"):
        assert len(re.findall(rf"<{tag}[ >]", html)) == html.count(f"</{tag}>"), tag


def test_only_the_face_gives_values_their_pictures():
    assert "_repr_mimebundle_" in vars(wb.Operator)
    made = naive()
    for value in (made, made.program, made.tree, made.verdict, wb.generate(made), wb.Target(cores=4)):
        assert value._repr_mimebundle_.__func__ is wb._mimebundle


# -- themes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_saved_svg_has_literal_colours_of_its_theme(tmp_path, theme):
    file = viz.domain(wb.lower(wb.ops.matmul)).save(tmp_path / "x.svg", theme=theme)
    svg = file.read_text(encoding="utf-8")
    parsed(svg)
    other = "dark" if theme == "light" else "light"
    assert "var(" not in svg
    assert "<style" not in svg
    assert colour("s0", theme) in svg
    assert colour("s0", other) not in svg


def test_a_shown_svg_follows_the_page():
    svg = viz.domain(wb.lower(wb.ops.matmul)).svg
    assert "var(--wb-s0,#0067a8)" in svg
    assert "prefers-color-scheme:dark" in svg
    assert "data-jp-theme-light=false" in svg


def test_colours_have_contrast():
    for role, pair in COLOURS.items():
        for colour_, ground in zip(pair, COLOURS["ground"], strict=True):
            if role not in ("ground", "grid", "panel"):
                assert contrast(colour_, ground) >= 4.5, (role, colour_)


def test_no_statement_looks_switched_off_on_dark_ground():
    """Words and marks of the sixth and later ones stand beside those of the first, which have a contrast of 8:1."""
    faint = [i for i in range(STATEMENT_COLOURS) if contrast(COLOURS[f"s{i}"][1], COLOURS["ground"][1]) < 6]
    assert faint == []


def contrast(a, b):
    lighter, darker = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _linear(colour_):
    parts = [int(colour_[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def _luminance(colour_):
    linear = _linear(colour_)
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


# What who lacks one kind of cones sees of a colour of linear light: Machado, Oliveira and Fernandes, A physiologically
# based model for simulation of color vision deficiency, 2009, table 1.
DEFICIENT = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
WHITE = (0.95047, 1.0, 1.08883)


@pytest.mark.parametrize("deficient", DEFICIENT)
@pytest.mark.parametrize("theme", [0, 1])
def test_statements_are_told_apart_without_one_kind_of_cones(deficient, theme):
    seen = [_seen(COLOURS[f"s{i}"][theme], DEFICIENT[deficient]) for i in range(ROUND)]
    for a, b in combinations(range(ROUND), 2):
        assert math.dist(seen[a], seen[b]) > (11 if b < 3 else 4.5), (a, b)
        assert shape(a) != shape(b)  # where two are near


@pytest.mark.parametrize("deficient", DEFICIENT)
@pytest.mark.parametrize("theme", [0, 1])
def test_arrays_are_told_apart_without_one_kind_of_cones(deficient, theme):
    seen = [_seen(COLOURS[f"a{i}"][theme], DEFICIENT[deficient]) for i in range(ROUND)]
    for a, b in combinations(range(ROUND), 2):
        assert math.dist(seen[a], seen[b]) > 4.5, (a, b)


@pytest.mark.parametrize("theme", [0, 1])
def test_no_two_statements_or_arrays_have_one_colour_and_none_looks_like_an_error(theme):
    roles = [*(f"s{i}" for i in range(STATEMENT_COLOURS)), *(f"a{i}" for i in range(ARRAY_COLOURS)), "bad"]
    every = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    seen = {role: _seen(COLOURS[role][theme], every) for role in roles}
    near = [(a, b) for a, b in combinations(roles, 2) if math.dist(seen[a], seen[b]) < 11]
    assert near == []


def test_no_colour_or_mark_stands_for_a_statement_and_for_an_array():
    for theme in (0, 1):
        statements = {COLOURS[statement_role(i)][theme] for i in range(36)}
        arrays = {COLOURS[array_role(i)][theme] for i in range(36)}
        assert not statements & arrays
    assert not {shape(i) for i in range(36)} & {array_shape(i) for i in range(36)}
    assert not {glyph(i) for i in range(36)} & {array_glyph(i) for i in range(36)}


def test_many_statements_and_arrays_keep_marks_of_their_own():
    assert len({(statement_role(i), shape(i)) for i in range(36)}) == 36
    assert len({(array_role(i), array_shape(i)) for i in range(24)}) == 24
    picture = viz.domain(wb.lower(wb.ops.attention, B=1, M=3, D=2, N=3, E=2))
    assert len({(m.role, m.shape) for m in picture.scene.marks if isinstance(m, Marker)}) == 10


@pytest.mark.parametrize("form", ["open square", "open diamond", "open triangle"])
def test_what_lies_within_an_open_mark_is_ground(form):
    """In PNG, and in Matplotlib's figures; SVG fills by the same rule."""
    scene = Scene(40, 40, (Marker(20, 20, "a0", form, 14.0),))
    for image in (_image(scene), _figure_image(scene)):
        middle = image.getpixel((image.width // 2, image.height // 2 + image.height // 40))
        assert middle == (255, 255, 255), form
        assert len(image.getcolors(1 << 16)) > 1


def _image(scene):
    return Image.open(BytesIO(Picture("x", scene).png)).convert("RGB")


def _figure_image(scene):
    out = BytesIO()
    Picture("x", scene).figure().savefig(out, format="png")
    return Image.open(out).convert("RGB")


def _seen(colour_, deficient):
    """A colour in CIE L*a*b*, in which distances are as large as they look."""
    linear = [max(0.0, value) for value in _times(deficient, _linear(colour_))]
    x, y, z = (_root(value / white) for value, white in zip(_times(TO_XYZ, linear), WHITE, strict=True))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _root(value):
    return value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116


def _times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def test_png_in_the_dark():
    light, dark = (Image.open(BytesIO(_png(theme))).convert("RGB").getpixel((1, 1)) for theme in ("light", "dark"))
    assert light == (255, 255, 255)
    assert max(dark) < 60


def _png(theme):
    from workbench.viz.draw.png import png_bytes

    return png_bytes(viz.domain(wb.lower(wb.ops.trmm)).scene, theme)


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".svg", ".png", ".html", ".txt", ".tex"])
def test_save(tmp_path, ending):
    file = viz.formula(wb.ops.softmax).save(tmp_path / f"formula{ending}")
    start = {".svg": b"<svg", ".png": b"\x89PNG", ".html": b"<!DOCTYPE", ".txt": b"softmax", ".tex": b"$"}[ending]
    assert file.read_bytes().startswith(start)


def test_an_unknown_ending_lists_the_known_ones(tmp_path):
    with pytest.raises(WorkbenchError, match=r"unknown ending '\.gif'.*\.svg, \.png, \.pdf, \.html, \.txt"):
        viz.tree(naive()).save(tmp_path / "x.gif")
    with pytest.raises(WorkbenchError, match=r"unknown ending '\.tex'"):
        viz.tree(naive()).save(tmp_path / "x.tex")


# -- what was typed stays text ---------------------------------------------------------------------

HOSTILE = "</pre><script>alert(1)</script>\"'&<img src=x onerror=y>\x00\x1b"


def test_documentation_is_escaped():
    picture = viz.formula(replace(wb.ops.matmul, generic=(), doc=HOSTILE, text=f"def f {HOSTILE}"))
    assert "<script" not in picture.html
    assert "<img" not in picture.html
    assert "&lt;script&gt;" in picture.html


def test_findings_and_kernels_are_escaped():
    report = Report((Finding(HOSTILE, HOSTILE, HOSTILE, HOSTILE),))
    kernel = wb.generate(naive(M=2, N=2, K=2), "c")
    hostile = replace(kernel, source=f"/* {HOSTILE} */\n{kernel.source}", notes=(HOSTILE,), name=HOSTILE)
    for value in (report, hostile):
        picture = viz.picture(value)
        assert "<script" not in picture.html
        assert "<img" not in picture.html
        parsed(picture.svg)


def test_marks_are_escaped():
    scene = Scene(50, 50, (Text(0, 10, HOSTILE), Marker(5, 5, "s0", title=HOSTILE)), HOSTILE)
    root = parsed(Picture("x", scene).svg)
    (text,) = root.iter("{http://www.w3.org/2000/svg}text")
    assert text.text == HOSTILE.replace("\x00", "\ufffd").replace("\x1b", "\ufffd")


def test_escape_leaves_markup_alone():
    assert escape(Markup("<b>")) == "<b>"
    assert element("p", "<b>", element("i", "&"), title='"') == '<p title="&quot;">&lt;b&gt;<i>&amp;</i></p>'


# -- the words behind a drawing ---------------------------------------------------------------------


def test_a_value_that_cannot_be_drawn_leaves_its_words(monkeypatch):
    def fail(*_):
        raise WorkbenchError("too large")

    monkeypatch.setattr("workbench.viz.notebook.display.picture", fail)
    program = wb.lower(wb.ops.matmul)
    assert viz.mimebundle(program) == {"text/plain": f"{program}\n(no picture: too large)"}


def test_without_styles_a_reader_sees_the_picture_or_the_words():
    drawn = viz.domain(wb.lower(wb.ops.matmul)).html
    assert '<div class="wb-live" hidden="hidden">' in drawn
    assert '<img src="data:image/png;base64,' in drawn
    assert "<pre>matmul" in viz.formula(wb.ops.matmul).html


def test_every_kind_of_mark_is_drawn_both_ways():
    marks = (
        Line((5, 5), (90, 40), "bad", 2.0, (4, 3), True, 6.0, 0.5),
        Path(((5, 60), (40, 80), (90, 60)), "s1", 2.0, 0.5),
        Polygon(((20, 20),), "s2", 0.5, 6), Polygon(((30, 20), (60, 20)), "s2", 0.5, 6),
        Polygon(((70, 70), (90, 70), (90, 90)), "s3", 0.3, 4), Box(5, 80, 20, 10, "panel", "ink"),
        *(Marker(10 + 12 * i, 95, "s4", shape(i)) for i in range(6)),
        Text(5, 110, "words", mono=True, bold=True),
    )  # fmt: skip
    picture = Picture("x", Scene(120, 120, marks, "marks"))
    assert len(list(parsed(picture.svg).iter())) > len(marks)
    image = Image.open(BytesIO(picture.png)).convert("RGB")
    assert len(image.getcolors(1 << 20)) > 20


# -- sheets ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["program", "stencil", "verdict", "legal", "measurement", "verification", "report"])
def test_sheet(name, golden):
    golden(viz.sheet(VALUES[name]()).text)


def test_a_schedule_tells_why_each_step_is_there():
    _, _, (steps,) = viz.sheet(tiled()).data
    assert [row[1] for row in steps.rows] == ["tile(m=64, n=64)", "vectorize('n_i')", "parallelize('m_o')"]
    assert all(row[2] for row in steps.rows)


def test_an_unproved_or_illegal_schedule_says_so_first():
    from workbench.schedules.transform import Together

    step = Together((wb.interchange("A.1/i", "t"),))
    schedule = step.on(wb.schedule(seidel(), N=64, T=8))
    assert viz.picture(schedule).text.startswith("illegal")


@pytest.mark.parametrize("name", ["conv2d", "batched_matmul", "layer_norm", "jacobi_2d", "softmax"])
def test_words_of_cells_do_not_lie_on_one_another(name):
    known = {"stride": 1, "pad": 1, "dilation": 1} if name == "conv2d" else {}
    drawn = viz.cells(wb.schedule(wb.ops.load(name), **known)).drawing
    texts = [m for m in drawn.marks if isinstance(m, Text) and m.bold]
    for a, b in combinations(texts, 2):
        assert abs(a.y - b.y) > 10 or a.x + a.width <= b.x or b.x + b.width <= a.x, (a.text, b.text)


def test_a_box_without_fill_and_edge_is_not_seen():
    """As in SVG: the frames of loops that have a kind were dark in PNGs, whose text could not be read."""
    nothing = Box(0, 0, 300, 40, None, None, 6, 0.55)
    assert drawn(Scene(300, 40, (nothing,)), "light").getcolors() == drawn(Scene(300, 40, ()), "light").getcolors()
    assert np.asarray(drawn(viz.tree(tiled()).scene, "light").convert("L").resize((40, 40))).min() > 128
