"""What of a notebook's outputs is stored, and that a change of them is noticed and a mere time is not."""

from __future__ import annotations

import sys
from base64 import b64decode
from io import BytesIO

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

import workbench as wb
from tests.support import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import stored_outputs


def printed(*texts, name="stdout"):
    return [new_output("stream", name=name, text=text) for text in texts]


def shown(value, count=7):
    return new_output("execute_result", data=value._repr_mimebundle_(), execution_count=count)


def ran(*cells):
    """A notebook with a cell for each list of outputs."""
    made = [new_code_cell("1", id=f"c{n}", outputs=outputs, execution_count=n) for n, outputs in enumerate(cells)]
    return new_notebook(cells=made)


def stored(now, elsewhere=None):
    """What is stored of a run in a notebook without outputs."""
    empty = ran(*([] for _ in now.cells))
    return stored_outputs.store(empty, now, elsewhere or now)


def transposed(n):
    operator = wb.operator("def transposed(float(M,N) A) -> (B) { B(n,m) = A(m,n) }")
    return wb.viz.domain(wb.schedule(operator, M=3, N=n))


def test_what_was_printed_in_pieces_is_whole():
    assert stored(ran(printed("a\n", "b\n"))).cells[0].outputs == printed("a\nb\n")
    assert stored_outputs.stale(stored(ran(printed("a\n", "b\n"))), ran(printed("a\nb\n"))) == []


def test_a_picture_is_stored_as_words_and_a_png_with_its_fingerprint():
    (output,) = stored(ran([shown(transposed(4))])).cells[0].outputs
    assert set(output.data) == {"text/plain", "image/png"}
    assert output.data["text/plain"] == transposed(4).text
    assert Image.open(BytesIO(b64decode(output.data["image/png"]))).mode == "P"
    assert len(output.metadata["workbench"]["drawing"]) == 16
    assert output.execution_count == 1


def test_a_changed_drawing_is_noticed_though_its_words_are_the_same():
    kept = stored(ran([shown(transposed(4))]))
    other = shown(transposed(4))
    other.data["image/svg+xml"] = other.data["image/svg+xml"].replace("<circle", "<rect").replace("<rect", "<g", 1)
    assert stored_outputs.stale(kept, ran([shown(transposed(4))])) == []
    assert stored_outputs.stale(kept, ran([other])) == ["c0"]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("1.39 ms (1.36 ms to 1.42 ms), 88.4 GFLOP/s, 215 calls", "92 us (90 us to 1 ms), 7 GFLOP/s, 9 calls", True),
        ("gcc 12.2.0-14+deb12u1", "gcc 13.1.0", True),
        ("<object at 0x7f00aa12>", "<object at 0x7f00bb13>", True),
        ("64 bytes", "128 bytes", False),
        ("for m_o = m / 32", "for m_o = m / 64", False),
        ("legal", "illegal", False),
    ],
)
def test_times_versions_and_addresses_may_change(before, after, same):
    assert (stored_outputs.stale(stored(ran(printed(before))), ran(printed(after))) == []) is same


def test_how_strictly_is_found_by_the_second_run():
    one = ran(printed("tile(m=32)"), printed("512 bit"), printed("PyTorch is not here"), [])
    two = ran(printed("tile(m=32)"), printed("256 bit"), printed("largest difference: 0"), [])
    kept = stored(one, two)
    assert [stored_outputs.strictness_of(cell) for cell in kept.cells] == ["text", "words", "kinds", "text"]
    assert stored_outputs.stale(kept, two) == []
    three = ran(printed("tile(m=64)"), printed("512 lanes"), [], printed("new"))
    assert stored_outputs.stale(kept, three) == ["c0", "c1", "c2", "c3"]
    said = stored_outputs.difference(kept.cells[0], three.cells[0])
    assert "-tile(m=32)" in said.replace("stream\n", "")
    assert "+tile(m=64)" in said


def test_places_on_a_machine_are_not_stored():
    text = f"{ROOT}/workbench, {sys.prefix}/lib, /tmp/x1y2/a.so"
    assert stored_outputs.tidy(text) == "./workbench, .venv/lib, /tmp/..."


def test_what_fits_already_stays_as_it_is():
    kept = stored(ran(printed("1.39 ms"), printed("a")))
    again = stored_outputs.store(kept, ran(printed("2.10 ms"), printed("b")), ran(printed("3.0 ms"), printed("b")))
    assert [cell.outputs[0].text for cell in again.cells] == ["1.39 ms", "b"]


def test_a_picture_that_is_too_large_is_left_out():
    import numpy as np

    noise = Image.fromarray(np.random.default_rng(0).integers(0, 255, (900, 900, 3), dtype="uint8"))
    out = BytesIO()
    noise.save(out, "PNG")
    from base64 import b64encode

    data = {"text/plain": "noise", "image/png": b64encode(out.getvalue()).decode()}
    (output,) = stored(ran([new_output("display_data", data=data)])).cells[0].outputs
    assert output.data == {"text/plain": "noise"}
