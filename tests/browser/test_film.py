"""The film of the README is what the panel does: it is played again, and its files are small enough to be looked at."""

from __future__ import annotations

from PIL import Image

from tests.browser import film
from tests.support import ROOT

SCENES = ["opened", "tiled", "interchanged", "refused", "repaired", "measured"]


def test_the_film_can_be_played_again(browser, tmp_path):
    camera = film.opened(browser, width=film.WIDTH // 4, between=2)  # as quick as it can be
    panel = camera.page.panel
    seen = {scene: (len(panel.schedule.trace), panel.refusal.get("step")) for scene in film.play(camera)}
    assert list(seen) == SCENES
    assert seen["refused"] == (2, film.REFUSED), "nothing was changed by the step that is refused"
    assert seen["repaired"] == (4, None)
    assert [str(step) for step in panel.schedule.trace][1:] == ["interchange('k', 'n')", film.REPAIR, film.LANES]
    assert panel.measurements[panel.schedule].outcome == "measured"
    camera.save(tmp_path / "panel.webp")
    with Image.open(tmp_path / "panel.webp") as shown:
        assert shown.n_frames > 20


def test_the_film_in_the_readme_is_small_and_moves():
    assert "docs/images/panel.webp" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (film.IMAGES / "panel.webp").stat().st_size < 2_000_000
    with Image.open(film.IMAGES / "panel.webp") as shown:
        assert shown.n_frames > 20


def test_the_picture_in_the_readme_is_what_is_drawn_now():
    assert (film.IMAGES / "order.svg").read_text(encoding="utf-8") == film.order(), "make film"
