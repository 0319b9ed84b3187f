"""The panes beyond the first five, each seen at work in a bare page: maps, editors, other languages, bytes, films."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable

import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.chromium import Browser
from tests.viz.panels.values import SCHEDULES, schedule
from tests.viz.views.gpu.test_gpu_views import transposed
from workbench.viz.panels.mapping import grid
from workbench.viz.views.domain.cache_lines import Scale, scaled_cache

pytestmark = pytest.mark.usefixtures("what_is_said_from_now_on")
MAP = ".wbp .map"
KNOWN = f"document.querySelector('{MAP} [data-spot=\"9\"]')?.dataset.legal"


@pytest.fixture
def shown(browser: Browser) -> Callable[..., Bench]:
    """A panel with some panes in the page."""
    return lambda panel, whole=True: Bench(browser, panel, whole=whole)


def text(browser: Browser, selector: str) -> str:
    return browser.run(f"document.querySelector({json.dumps(selector)}).textContent")


def spots(browser: Browser) -> dict[str, str]:
    """Place → "true" or "false" of the cells of the map that are judged."""
    found = f"[...document.querySelectorAll('{MAP} [data-legal]')].filter((e) => e.dataset.spot && e.dataset.legal)"
    return dict(browser.run(f"{found}.map((e) => [e.dataset.spot, e.dataset.legal])"))


@pytest.mark.parametrize("name", SCHEDULES)
def test_looking_at_a_kind_of_step_colours_what_is_legal(name, shown, browser):
    made = schedule(name)
    shown(wb.panel(made))
    kind = "skew" if name == "convolution" else "tile"
    browser.point_at(".wbp .mode", 2 if name == "convolution" else 1)
    whole(browser)
    own = max(made.program.statements, key=lambda s: len(s.dims))
    steps = grid(made, kind, own.name, *(text_of(browser, axis) for axis in ("x", "y"))).steps
    assert spots(browser) == {str(i): str(s is None or bool(made.can(s))).lower() for i, s in enumerate(steps)}
    browser.move((3, 3))
    browser.until(f"document.querySelector('{MAP}').hidden")


def whole(browser: Browser) -> None:
    """Wait until every cell of the map is judged."""
    browser.until(f"document.querySelector('{MAP} .spot.yes, {MAP} .spot.no')")
    browser.until(f"!document.querySelector('{MAP} .spot.unknown[data-spot]')")


def text_of(browser: Browser, axis: str) -> str:
    """What the last plot has on an axis."""
    return browser.run(f"[...document.querySelectorAll('.wbp .plot .axis.{axis}')].at(-1).textContent")


def test_a_map_is_walked_by_keys_and_a_cell_is_a_step(shown, browser):
    page = shown(wb.panel(schedule("matmul")))
    browser.run("document.querySelectorAll('.wbp .mode')[1].focus()")
    browser.key("ArrowDown")
    browser.until(f"document.activeElement.closest('{MAP}') && {KNOWN}")
    browser.key("ArrowRight")
    browser.key("ArrowDown")
    assert "legal" in browser.run("document.activeElement.getAttribute('aria-label')")
    browser.run("document.activeElement.click()")
    assert page.becomes("[str(s) for s in panel.schedule.trace]")[-1] == "tile(n=2, k=2)"


def test_an_illegal_cell_is_shown_in_red_with_a_repair(shown, browser):
    page = shown(wb.panel(schedule("stencil")))
    browser.point_at(".wbp .mode", 1)
    browser.until(f"document.querySelector('{MAP} .spot.no[data-spot]')")
    browser.run(f"document.querySelector('{MAP} .spot.no[data-spot]').click()")
    browser.until("document.querySelector('.wbp .plot .arrow.bad')")
    assert page.panel.refusal["pairs"]
    browser.until("document.querySelector('.wbp .repair')")


def test_the_heat_follows_the_sliders(shown, browser):
    page = shown(wb.panel(wb.schedule(wb.ops.matmul, M=256, N=256, K=256)))
    browser.point_at(".wbp .mode", 1)
    browser.until(
        f"document.querySelector('{MAP} .spot.yes') && !document.querySelector('{MAP} .spot.unknown[data-spot]')"
    )
    colours = f"[...document.querySelectorAll('{MAP} .spot.yes')].map((e) => e.className).join()"
    before = browser.run(colours)
    move = "(() => { const r = document.querySelector('%s'); r.value = %s; r.dispatchEvent(new Event('%s')) })()"
    browser.run(move % (f"{MAP} [data-machine=L1]", 19, "input"))
    assert browser.run(colours) != before
    assert page.panel.machine["cache_bytes"][0] != 1 << 19  # the kernel hears of it when the hand lets go
    browser.run(move % (f"{MAP} [data-machine=L1]", 19, "change"))
    page.becomes("panel.target.cache_bytes[0] == 1 << 19")


def test_sliders_follow_a_machine_that_python_sets(shown, browser):
    """They once kept the old values while the table below showed the new ones."""
    page = shown(wb.panel(wb.schedule(wb.ops.matmul, M=256, N=256, K=256), panes=("tree", "footprint")), whole=False)
    browser.until("document.querySelector('.wbp .footprint .levels')")
    page.ask("setattr(panel, 'target', wb.Target(vector_bits=128, cache_bytes=(1 << 19, 1 << 21, 1 << 25)))")
    dial = "document.querySelector('.wbp .footprint [data-machine=%s]')"
    browser.until(f"{dial % 'L1'}.value === '19' && {dial % 'L2'}.value === '21'")
    assert browser.run(f"{dial % 'L1'}.closest('label').textContent") == "L1512 KiB"
    assert browser.run(f"{dial % 'vectors'}.closest('label').textContent") == "vectors128 bits"
    assert "512 KiB" in text(browser, ".wbp .footprint .levels")


# -- text --------------------------------------------------------------------------------------------------------------


def write(browser: Browser, selector: str, added: str) -> None:
    """Write at the end of the second line of an editor."""
    browser.run(f"document.querySelector('{selector} .cm-content').focus()")
    browser.key("ArrowDown")
    browser.key("End")
    browser.type(added)


def test_an_error_is_underlined_at_its_token_and_a_right_text_is_taken(shown, browser, keep):
    page = shown(wb.panel(schedule("matmul"), panes=("operator", "domain", "code", "history")), whole=False)
    browser.until("document.querySelector('.wbp .operator .cm-line')")
    write(browser, ".wbp .operator", " * zz(k)")
    browser.until("document.querySelector('.wbp .cm-lintRange-error')")
    assert text(browser, ".wbp .cm-lintRange-error") == "zz"
    assert "unknown tensor" in text(browser, ".wbp .said")
    assert browser.run("document.querySelector('.wbp .take').disabled")
    keep("operator_error")
    browser.click(".wbp .back")
    browser.until("!document.querySelector('.wbp .cm-lintRange-error')")
    write(browser, ".wbp .operator", " * B(k, n)")
    browser.until("!document.querySelector('.wbp .take').disabled")
    browser.click(".wbp .take")
    assert page.becomes("panel.source['text'].count('B(k, n)')") == 2
    browser.until("document.querySelector('.wbp .code').textContent.includes('B[k*80 + n] * B[k*80 + n]')")


def test_names_are_completed(shown, browser):
    shown(wb.panel(schedule("triangular"), panes=("operator",)), whole=False)
    browser.until("document.querySelector('.wbp .operator .cm-line')")
    write(browser, ".wbp .operator", " + fl")
    browser.until(
        "[...document.querySelectorAll('.cm-tooltip-autocomplete li')].some((e) => e.textContent.startsWith('floor'))"
    )


def test_a_preview_shows_the_difference_and_the_loops(shown, browser, keep):
    page = shown(wb.panel(schedule("matmul")))
    offers = "[...document.querySelectorAll('.wbp .offer')]"
    browser.run(
        f"{offers}.find((e) => e.textContent.startsWith(\"interchange('n', 'm')\")).querySelector('.preview').click()"
    )
    browser.until(
        "document.querySelector('.wbp .changes .cm-changedLine') && document.querySelector('.wbp.previewing')"
    )
    names = browser.run("[...document.querySelectorAll('.wbp .tree .node')].map((e) => e.dataset.name)")
    assert names[:2] == ["n", "m"]
    assert not page.panel.schedule.trace
    keep("preview")
    browser.click(".wbp .beside")
    browser.until("document.querySelectorAll('.wbp .changes .cm-mergeViewEditor').length === 2")
    browser.click(".wbp .code .close")
    browser.until("!document.querySelector('.wbp.previewing') && document.querySelector('.wbp .code .listing')")
    assert browser.run("document.querySelector('.wbp .tree .node').dataset.name") == "m"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="install gcc or clang")
def test_languages_stand_side_by_side_and_light_together(shown, browser, keep):
    made = wb.schedule(wb.ops.matmul, M=64, N=64, K=32) | wb.tile(m=16, n=32) | wb.bind("m_o", "block.x")
    page = shown(wb.panel(made, panes=("code", "tree")), whole=False)
    browser.until("document.querySelector('.wbp .listing')")
    for n in (0, 2):  # it opens on CUDA
        browser.click(".wbp .language", n)
    browser.until("document.querySelectorAll('.wbp .listing').length === 3")
    page.ask("setattr(panel, 'selection', {'loop': 'm_o', 'statement': 'C'})")
    browser.until("document.querySelector('.wbp .column:nth-child(2) .line.active')")
    assert "blockIdx.x" in text(browser, ".wbp .column:nth-child(2) .line.active")
    page.ask("setattr(panel, 'selection', {'statement': 'C'})")
    browser.until("document.querySelectorAll('.wbp .column:nth-child(2) .line.active').length > 3")
    lit = "[...document.querySelectorAll('.wbp .column:nth-child(%d) .line.active')].map((e) => Number(e.dataset.line))"
    c = set(browser.run(lit % 1))
    of = {line["number"]: line["of"] for line in page.panel.views["assembly"]["lines"]}
    assert c
    assert {of[n] for n in browser.run(lit % 3)} <= c
    keep("languages")


# Only lines that are near to what is seen are in the page.
SCROLLED = """(async (column) => {
    const own = document.querySelector(`.wbp .column:nth-child(${column})`);
    const scroller = own.querySelector('.cm-scroller');
    for (let y = 0; !own.querySelector('.line.kept') && y < scroller.scrollHeight; y += 200) {
        scroller.scrollTop = y;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    } })(%d)"""
ALL_KEPT = """(async (column) => {
    const scroller = document.querySelector(`.wbp .column:nth-child(${column}) .cm-scroller`), found = new Map();
    for (let y = 0; y < scroller.scrollHeight; y += 150) {
        scroller.scrollTop = y;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        scroller.querySelectorAll('.line.kept').forEach((e) => found.set(Number(e.dataset.line), e.dataset.kept));
    }
    scroller.scrollTop = 0;
    return [...found] })(%d)"""
KEPT = "[...document.querySelectorAll('.wbp .column:nth-child(%d) .line.kept')]"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="install gcc or clang")
@pytest.mark.parametrize("name", SCHEDULES)
def test_what_keeps_a_colour_has_it_in_every_text_and_after_a_step(name, shown, browser, keep):
    made = schedule(name)
    others = (0, 2) if name == "matmul" else (2,)  # with a bound loop it opens on CUDA
    made = made | wb.bind("m", "block.x") if name == "matmul" else made
    own = max(made.program.statements, key=lambda s: len(s.dims)).name
    page = shown(wb.panel(made, panes=("code", "tree", "steps")), whole=False)
    browser.until("document.querySelector('.wbp .listing')")
    for n in others:
        browser.click(".wbp .language", n)
    browser.until(f"document.querySelectorAll('.wbp .listing').length === {1 + len(others)}")
    loop = page.ask(f"[n['name'] for n in panel.tree if {own!r} in n['statements']][0]")
    page.ask(f"setattr(panel, 'selection', {{'loop': {loop!r}, 'statement': {own!r}}})")
    browser.until("document.querySelector('.wbp .keep-colour:not(:disabled)')")
    browser.click(".wbp .keep-colour")
    page.ask(f"setattr(panel, 'selection', {{'statement': {own!r}}})")
    browser.until("document.querySelector('.wbp .line.active')")
    browser.run("document.querySelector('.wbp .listing').focus()")
    browser.key("c")
    browser.until("document.querySelectorAll('.wbp button.kept').length === 2")
    page.ask("setattr(panel, 'selection', {})")
    browser.until("!document.querySelector('.wbp .line.active')")
    lines = page.panel.code["lines"]
    wanted = {
        "1": {x["number"] for x in lines if x["loop"] == loop and own in x["statements"]},
        "2": {x["number"] for x in lines if x["statements"] == [own] and not x["loop"]},
    }
    kept = browser.run(ALL_KEPT % 1)
    for number, expected in wanted.items():
        assert expected
        assert {line for line, colour in kept if colour == number} == expected
    browser.run(SCROLLED % (1 + len(others)))
    of = {line["number"]: line["of"] for line in page.panel.views["assembly"]["lines"]}
    made_from = {of[n] for n in browser.run(f"{KEPT % (1 + len(others))}.map((e) => Number(e.dataset.line))")}
    assert made_from
    assert made_from <= wanted["1"] | wanted["2"]
    nodes = browser.run("[...document.querySelectorAll('.wbp .row.kept')].map((e) => e.closest('.node').dataset.name)")
    assert nodes == [loop, own]
    keep(f"{name}_colours")
    legal = "[s for s in wb.next_steps(panel.schedule).legal if str(s).startswith(('skew', 'unroll', 'vectorize'))]"
    page.ask(f"panel.apply({legal}[0])")
    browser.until(f"document.querySelector('.wbp').dataset.place !== '0' && {KEPT % 1}.length")
    browser.click(".wbp button.kept", 0)
    browser.until("document.querySelectorAll('.wbp button.kept').length === 1")


def test_the_text_of_a_kernel_is_a_file(shown, browser):
    page = shown(wb.panel(schedule("triangular"), panes=("code",)), whole=False)
    browser.until("document.querySelector('.wbp .save')")
    browser.run(
        "(() => { window.saved = []; HTMLAnchorElement.prototype.click = function () {"
        " fetch(this.href).then((r) => r.text()).then((text) => saved.push([this.download, text])) } })()"
    )
    browser.click(".wbp .save")
    browser.until("window.saved.length")
    name, source = browser.run("window.saved[0]")
    assert name == "trmm.c"
    assert source == wb.generate(page.panel.schedule).source


# -- very many points --------------------------------------------------------------------------------------------------

PILED = """def piled(float(N,N) x) -> (y) {
    y(i,j) +=! x(i,k) * x(k,j) where k in 0:i+1
}"""
CHOOSE = """(([axis, value]) => { const s = document.querySelector(`.wbp [data-axis=${axis}]`);
    s.value = value; s.dispatchEvent(new Event('change')) })(%s)"""
ALPHA = """(([x, y, size]) => {
    const frame = document.querySelector('.wbp svg.plot .frame').getBoundingClientRect();
    const canvas = document.querySelector('.wbp .plot-box canvas'), box = canvas.getBoundingClientRect();
    const at = [frame.x - box.x + (x + 0.5) * frame.width / size,
        frame.y - box.y + (y + 0.5) * frame.height / size];
    const [px, py] = at.map((v) => v * canvas.width / box.width);
    const [red, , blue, alpha] = canvas.getContext('2d').getImageData(px, py, 1, 1).data;
    return red > blue ? alpha / 255 : 0 })(%s)"""


def test_where_points_hide_one_another_colours_say_how_many_there_are(shown, browser, keep):
    size = 66
    made = wb.schedule(wb.operator(PILED), N=size)
    page = shown(wb.panel(made, panes=("domain",), sizes={"N": size}), whole=False)
    assert sum(s["points"][1] for s in page.panel.domain["statements"]) > 100_000
    browser.until("document.querySelector('.wbp .plot')")
    for chosen in (["x", "j"], ["y", "i"]):
        browser.run(CHOOSE % json.dumps(chosen))
    browser.run("document.querySelectorAll('.wbp .slider [type=checkbox]:not(:checked)').forEach((b) => b.click())")
    browser.until(f"document.querySelector('.wbp .density').textContent.includes('{size} instances at each place')")
    browser.until((ALPHA % "[20, 65, 66]") + " > 0.9")
    for i in (10, 33, 65):
        own, first = (0.12 + 0.88 * count / size for count in (i + 1, 1))
        assert browser.run(ALPHA % f"[20, {i}, 66]") == pytest.approx(1 - (1 - own) * (1 - first), abs=0.02)
    keep("density")


# -- bytes, warps, time ------------------------------------------------------------------------------------------------


def test_memory_roofline_and_warps_are_drawn(shown, browser, keep):
    made = wb.schedule(wb.ops.matmul, M=64, N=64, K=32) | wb.tile(m=16, n=32) | wb.bind("m_o", "block.x")
    made = made | wb.bind("m_i", "thread.y") | wb.bind("n_i", "thread.x")
    page = shown(wb.panel(made, panes=("tree", "footprint", "roofline", "warps")), whole=False)
    browser.until(
        "document.querySelector('.wbp .footprint .foot') && document.querySelector('.wbp .warps .sector-box')"
    )
    assert browser.run("document.querySelectorAll('.wbp .footprint .foot').length") == 6
    browser.point_at(".wbp .footprint .foot", 5)
    browser.until("document.querySelector('.wbp .tree .node.active')")
    assert browser.run("document.querySelector('.wbp .tree .node.active').dataset.name") == "k"
    keep("bytes")
    assert "error" not in page.panel.views["roofline"]


def test_the_most_wasteful_access_of_a_warp_is_drawn_first(shown, browser, keep):
    """Columns of a tile in shared memory: every thread wants another word of one bank."""
    page = shown(wb.panel(transposed(), panes=("warps", "footprint", "domain", "lanes")), whole=False)
    browser.until("document.querySelector('.wbp .warps .bank-box') && document.querySelector('.wbp .happening')")
    worst = min(page.panel.views["warps"]["accesses"], key=lambda a: a["efficiency"])
    assert (worst["memory"], worst["worst"]) == ("shared", 32)
    assert worst["text"] in text(browser, ".wbp .warps .access[aria-pressed=true]")
    assert "32 different words from one bank: 32 turns" in text(browser, ".wbp .warp")
    assert len(attributes(browser)) > 20  # the tile's cells, not the one tile that a copy's own dims would show
    keep("banks")
    best = next(i for i, a in enumerate(page.panel.views["warps"]["accesses"]) if a["memory"] == "global")
    browser.click(".wbp .warps .access", best)
    browser.until("document.querySelector('.wbp .warps .sector-box')")
    assert "4 sectors of 32 bytes" in text(browser, ".wbp .warp")


def test_the_cache_follows_the_time(shown, browser, keep):
    shown(wb.panel(schedule("triangular"), panes=("domain", "cache")), whole=False)
    browser.until("document.querySelector('.wbp .cache .mem')")
    told = []
    for time in (1, 40, 80):
        browser.run(
            "(() => { const r = document.querySelector('.wbp .replay input');"
            f" r.value = {time}; r.dispatchEvent(new Event('input')) }})()"
        )
        told.append(int(text(browser, ".wbp .cache output").split()[0]))
        assert browser.run("document.querySelectorAll('.wbp .mem.hit, .wbp .mem.miss').length") > 0
    assert told[0] < told[1] < told[2]
    keep("cache")


def test_the_cache_is_the_machines_scaled_with_the_drawing_until_another_is_chosen(shown, browser):
    made = wb.schedule(wb.ops.matmul, M=96, N=80, K=64)
    page = shown(wb.panel(made, panes=("domain", "cache")), whole=False)
    browser.until("document.querySelector('.wbp .cache .mem')")
    smaller = Scale(**page.panel.domain["scale"])
    assert 0 < smaller.data < 0.1
    for level in (32 << 10, 512 << 10):
        page.ask(f"setattr(panel, 'target', wb.Target(cache_bytes=({level}, 1 << 20, 1 << 25)))")
        cache = scaled_cache(page.panel.target, smaller, 4)
        chosen = "[...document.querySelectorAll('.wbp .cache select')].map((e) => Number(e.value)).join()"
        browser.until(f"{chosen} === '{cache.size},{cache.line}'")
        assert f"{level >> 10} KiB in lines of 64 B, scaled with what is drawn" in text(browser, ".wbp .cache .note")
    browser.run(
        "(() => { const [size] = document.querySelectorAll('.wbp .cache select');"
        " size.value = '128'; size.dispatchEvent(new Event('change')) })()"
    )
    assert "a cache of your choice" in text(browser, ".wbp .cache .note")
    browser.click(".wbp .cache-own")
    browser.until(f"{chosen} === '{cache.size},{cache.line}'")


def test_a_cache_for_everything_misses_each_line_once(shown, browser):
    page = shown(wb.panel(schedule("matmul"), panes=("domain", "cache")), whole=False)
    browser.until("document.querySelector('.wbp .cache .mem')")
    browser.run(
        "(() => { const [size, line] = document.querySelectorAll('.wbp .cache select');"
        " size.value = '8192'; size.dispatchEvent(new Event('change')) })()"
    )
    browser.run(
        "(() => { const line = document.querySelectorAll('.wbp .cache select')[1];"
        " line.value = '8'; line.dispatchEvent(new Event('change')) })()"
    )
    sizes = page.panel.domain["sizes"]
    lines = sum(-(-sizes[a] * sizes[b] * 4 // 8) for a, b in (("M", "N"), ("M", "K"), ("K", "N")))
    assert int(text(browser, ".wbp .cache output").split(",")[1].split()[0]) == lines


@pytest.mark.parametrize("steps", ["parallelize('m')", "vectorize('n')", "parallelize('m') | wb.vectorize('n')"])
def test_threads_run_side_by_side_as_in_the_film(steps, shown, browser):
    made = eval(f"naive | wb.{steps}", {"naive": wb.schedule(wb.ops.matmul, M=4, N=5, K=3), "wb": wb})
    page = shown(wb.panel(made, panes=("domain", "lanes"), sizes={"M": 4, "N": 5, "K": 3}), whole=False)
    browser.until("document.querySelector('.wbp .happening')")
    film = wb.viz.replay(made, sizes=page.panel.domain["sizes"]).reel.execution
    assert f" in {len(film.moments)} moments on {film.threads} thread" in text(browser, ".wbp .lanes .note")
    browser.click(".wbp .together input")
    browser.run(
        "(() => { const r = document.querySelector('.wbp .replay input');"
        " r.value = 4; r.dispatchEvent(new Event('input')) })()"
    )
    done = {
        f"{page.panel.schedule.program.statement(event.statement).name}({', '.join(map(str, instance))})"
        for moment in film.moments[:4] for event in moment for instance in event.instances
    }  # fmt: skip
    filled = browser.run("[...document.querySelectorAll('.wbp .plot .point:not(.waits)')].map((e) => e.dataset.point)")
    seen = set(attributes(browser))
    assert set(filled) == done & seen


def attributes(browser: Browser) -> list[str]:
    """The instances that are drawn, by the first that stands at each place."""
    return browser.run("[...document.querySelectorAll('.wbp .plot .point')].map((e) => e.dataset.point)")


def test_everything_is_compared_with_what_is_pinned(shown, browser, keep):
    naive = wb.schedule(wb.ops.matmul, M=128, N=128, K=128)
    page = shown(wb.panel(naive, panes=("code", "history", "footprint")), whole=False)
    browser.until("document.querySelector('.wbp .footprint .foot')")
    browser.click(".wbp .pin")
    browser.until("document.querySelector('.wbp .pin').getAttribute('aria-pressed') === 'true'")
    page.ask("panel.apply(wb.tile(m=16, n=16))")
    browser.until("document.querySelectorAll('.wbp .levels th').length > 5 && document.querySelector('.wbp .against')")
    assert "pinned: naive" in text(browser, ".wbp .footprint .levels")
    browser.click(".wbp .against")
    browser.until("document.querySelector('.wbp .changes .cm-deletedChunk')")
    keep("pinned")


def test_a_film_is_offered_as_a_file(shown, browser):
    shown(wb.panel(schedule("triangular"), sizes={"M": 3, "N": 2}))
    browser.run(
        "(() => { window.saved = []; HTMLAnchorElement.prototype.click = function () { saved.push(this.download) } })()"
    )
    browser.click(".wbp .film", 1)
    assert browser.until("window.saved.length && window.saved[0]") == "trmm.html"


# -- panes, cells, keys ------------------------------------------------------------------------------------------------


def test_panes_come_and_go(shown, browser):
    page = shown(wb.panel(schedule("matmul")))
    browser.click('.wbp [data-pane="footprint"]')
    browser.until("document.querySelector('.wbp .footprint .foot')")
    assert page.becomes("list(panel.panes)") == ["domain", "code", "tree", "steps", "history", "footprint"]
    browser.click('.wbp [data-pane="code"]')
    browser.until("!document.querySelector('.wbp .pane.code')")
    page.ask("setattr(panel, 'panes', ['domain', 'code'])")
    browser.until("document.querySelectorAll('.wbp .pane').length === 2 && document.querySelector('.wbp .listing')")


def test_a_host_is_asked_to_insert_a_cell(shown, browser):
    page = shown(wb.panel(schedule("matmul")))
    page.ask("panel.apply(wb.tile(m=4, n=4))")
    browser.run(
        "document.addEventListener('workbench:insert-cell',"
        " (event) => { window.inserted = event.detail.source; event.preventDefault() }, {once: true})"
    )
    browser.click(".wbp .insert")
    assert browser.until("window.inserted") == page.ask("str(panel.history)")
    assert "cell" in text(browser, ".wbp .status")


def test_the_keyboard_stays_where_it_was(shown, browser):
    page = shown(wb.panel(schedule("matmul")))
    browser.run("document.querySelector('.wbp svg.plot').focus()")
    page.ask("panel.apply(wb.tile(m=4, n=4))")
    browser.until("!document.querySelector('.wbp .undo').disabled")
    assert browser.run("document.activeElement.matches('.wbp svg.plot')")
    browser.run("document.querySelector('.wbp .listing').focus()")
    browser.key("ArrowDown")
    browser.key("ArrowDown")
    assert page.becomes("panel.selection").keys() == {"line"}
    assert text(browser, ".wbp .status")


def test_nothing_was_thrown(browser):
    assert [line for line in browser.console if line.startswith(("thrown", "error"))] == []
