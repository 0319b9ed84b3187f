"""Programs as people have them: regions in the middle of a file, macros, helpers; and the tool that tries a folder."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from tests.support import ROOT, examples

FOLDER = Path(__file__).parent / "programs"
TOOL = ROOT / "tools" / "foreign_programs.py"


def loaded():
    spec = spec_from_file_location("foreign_programs", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


tool = loaded()
READ = [(path.name, piece) for path in tool.programs(FOLDER) if path.stem != "refused" for piece in tool.pieces(path)]
# What each region of refused.c is refused for.
REFUSED = {
    "a_structure": "struct",
    "an_unknown_function": "the function noise is not known here",
    "a_while_loop": "while",
    "a_product_of_counters": "not affine",
    "swapped_pointers": "kept: pointers are not read",
}


@pytest.mark.parametrize(("file", "piece"), READ)
def test_a_region_is_raised_and_computes_what_its_text_computes(file, piece):
    found = {}
    for fact in tool.tried(FOLDER / file, piece, isl=examples(quick=0, ci=1, full=1) > 0, own_sizes=False):
        found |= fact
    assert found.pop("raised") == "raised"
    assert set(found.values()) == {"right"}, found


@pytest.mark.parametrize("piece", tool.pieces(FOLDER / "refused.c"))
def test_a_region_is_refused_for_what_is_in_it(piece):
    (fact,) = tool.tried(FOLDER / "refused.c", piece, isl=False, own_sizes=False)
    assert fact["raised"].startswith("refused: line ")
    assert REFUSED[piece] in fact["raised"]


@pytest.mark.slow
def test_the_tool_prints_what_became_of_a_folder(tmp_path):
    (tmp_path / "sums.c").write_text((FOLDER / "refused.c").read_text(encoding="utf-8"), encoding="utf-8")
    product = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
    (tmp_path / "two.tc").write_text(f"{product}\ndef twice<T>(T(N) A) -> (B) {{ B(i) = 2 * A(i) }}")
    command = [sys.executable, str(TOOL), str(tmp_path), "--no-isl"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    *rows, last = done.stdout.splitlines()
    assert sum("two.tc [" in row and "naive right, default right" in row for row in rows) == 2
    assert last == "7 programs: 2 raised, 5 refused, 0 neither; 4 schedules: 4 right, 0 wrong, 0 not run"


def test_a_wrong_result_is_counted_and_fails():
    rows = [tool.Row("a.c", "raised", {"naive": "right", "default": "wrong"}, 0.1)]
    assert rows[0].is_wrong
    assert tool.table(rows).endswith("0 refused, 0 neither; 2 schedules: 1 right, 1 wrong, 0 not run")
