"""The interpreter of C against gcc at -O0, whose undefined-behaviour sanitizer has nothing to say."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.chain.c_values import Rounded, Undefined, constant
from tests.chain.interpreter import PRELUDE, interpreted
from tests.chain.nests import Nest, Nests
from tests.chain.subjects import drawn
from tests.support import examples

HEADER = "#include <math.h>\n#include <stdint.h>\n"
CTYPES = {"signed char": ctypes.c_int8, "short": ctypes.c_int16, "int": ctypes.c_int32, "long": ctypes.c_int64,
          "double": ctypes.c_double}  # fmt: skip
CTYPES |= {f"uint{n}_t": getattr(ctypes, f"c_uint{n}") for n in (8, 16, 32, 64)}


def data(nest: Nest, random: Random) -> dict[str, Any]:
    numbers = np.random.default_rng(random.randrange(2**31))
    arrays = {n: drawn(t, shape, numbers) for n, (t, shape) in nest.arrays.items()}
    return {**nest.sizes, **{n: drawn(t, (), numbers) for n, t in nest.numbers.items()}, **arrays}


def compiled(nests: list[str], folder: Path, command: tuple[str, ...]) -> ctypes.CDLL:
    """Integers wrap, nothing is contracted, and what is undefined is said (and ends the process)."""
    (folder / "nests.c").write_text(HEADER + "\n".join(nests))
    flags = ["-O0", "-std=gnu11", "-fwrapv", "-ffp-contract=off", "-fPIC", "-shared", "-w"]
    watch = ["-fsanitize=undefined", "-fno-sanitize=signed-integer-overflow,shift-base"]
    watch += ["-fsanitize-undefined-trap-on-error"]
    subprocess.run([*command, *flags, *watch, "-o", "nests.so", "nests.c", "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "nests.so"))


def called(library: ctypes.CDLL, nest: Nest, name: str, given: dict[str, Any]) -> dict[str, Any]:
    arrays = {n: np.ascontiguousarray(given[n]).copy() for n in nest.arrays}
    scalars = [ctypes.c_int(v) for v in nest.sizes.values()]
    scalars += [CTYPES[t](np.asarray(given[n]).item()) for n, t in nest.numbers.items()]
    getattr(library, name)(*scalars, *(ctypes.c_void_p(a.ctypes.data) for a in arrays.values()))
    return arrays


def test_random_nests_leave_what_gcc_without_optimisation_leaves(compilers, tmp_path):
    if "gcc" not in compilers:
        pytest.skip("install gcc, clang or `pip install ziglang`: no C compiler found")
    made = {}
    for seed in range(examples(quick=60, ci=150, full=3000)):
        random = Random(seed)
        nest = Nests(random).nest(f"f{seed}")
        given = data(nest, random)
        try:
            made[f"f{seed}"] = nest, given, interpreted(nest.text, given)
        except (Undefined, Rounded):
            continue
    library = compiled([nest.text for nest, _, _ in made.values()], tmp_path, compilers["gcc"])
    for name, (nest, given, expected) in made.items():
        found = called(library, nest, name, given)
        for array in nest.arrays:
            np.testing.assert_array_equal(found[array], expected[array], err_msg=nest.text)


VALUES = {
    "-7 / 2": -3, "-7 % 2": -1, "7 / -2": -3, "7 % -2": 1, "-1 < 1u": 0, "-1 < 1l": 1, "1u - 2 > 0": 1,
    "(unsigned char)300": 44, "(signed char)200": -56, "(_Bool)256": 1, "(_Bool)0.5": 1, "-8 >> 1": -4,
    "2147483647 + 1": -(2**31), "0x80000000 > 0": 1, "2147483648 > 0": 1, "(1 < 2) + (2 < 1) - 3": -2,
    "~0u == 4294967295u": 1, "(short)40000 / 3": -8512, "1 ? -1 : 0u": 2**32 - 1, "(int)-2.75": -2,
    "-(-2147483647 - 1)": -(2**31), "!3 + !0": 1, "5 && 0 || 2": 1, "(uint8_t)~1 >> 1": 127,
    "(float)16777217 == 16777216": 1, "4000000000 * 3000000000": 12 * 10**18 - 2**64, "1 << 3 + 1": 16,
}  # fmt: skip


@pytest.mark.parametrize("text", VALUES)
def test_an_expression_has_the_value_that_c_gives_it(text):
    found = interpreted(f"void f(long A[1]) {{ A[0] = {text}; }}", {"A": np.zeros(1, "i8")})
    assert found["A"][0] == VALUES[text]


@pytest.mark.parametrize(
    "text", ["1 / A[0]", "1 % A[0]", "(-2147483647 - 1) / -1", "1 << 32", "A[1]", "(char)300.0", "1 << -1"]
)
def test_what_c_leaves_undefined_has_no_value(text):
    with pytest.raises(Undefined):
        interpreted(f"void f(long A[1]) {{ A[0] = {text}; }}", {"A": np.zeros(1, "i8")})


def test_a_variable_that_nobody_wrote_has_no_value():
    with pytest.raises(Undefined, match="read before"):
        interpreted("void f(int A[1]) { int s; A[0] = s; }", {"A": np.zeros(1, "i4")})


def test_a_product_that_is_rounded_is_told():
    with pytest.raises(Rounded):
        interpreted("void f(double A[1]) { A[0] = A[0] * 0.1 + 1; }", {"A": np.full(1, 0.3)})


def test_a_literal_has_the_first_type_it_fits():
    found = [constant(text)[0] for text in ("1", "2147483648", "0x80000000", "1u", "1ul", "0xffffffffff")]
    assert [(t.kind, t.bits) for t in found] == [
        ("int", 32), ("int", 64), ("uint", 32), ("uint", 32), ("uint", 64), ("int", 64)
    ]  # fmt: skip


def test_the_prelude_names_all_exact_widths():
    assert "uint8_t" in PRELUDE
    assert " int64_t" in PRELUDE
