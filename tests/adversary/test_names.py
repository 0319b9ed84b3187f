"""Names that mean something to somebody else: C, C++, its libraries, macros, isl, and the generator itself."""

from __future__ import annotations

import re
from random import Random

import numpy as np
import pytest

import workbench as wb
from workbench.errors import OperatorError, WorkbenchError

KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while _Bool _Complex
_Atomic asm typeof alignas alignof bool nullptr thread_local class namespace new delete template this throw try virtual
operator private public using constexpr and or not xor bitand compl mod floor exists
"""
LIBRARY = """
main printf malloc free memcpy memset exp log sin y0 y1 yn j0 jn gamma signgam tgamma index rindex stdin errno NULL EOF
INFINITY NAN M_PI HUGE_VAL RAND_MAX BUFSIZ assert abs fabs fmaf sqrtf round signbit int64_t uint8_t size_t ssize_t off_t
pid_t time_t FILE I complex imaginary linux unix i386 __linux__ __FILE__ __LINE__ __func__ omp_get_thread_num environ
exit abort div select read write open close pipe signal remove rename link
"""
OURS = """
workspace threads wb_t wb_l wb_status wb_failed wb_c wb_begin wb_end wb_context wb_thread wb_parallel_for wb_min_i64
WB_INLINE WB_UNROLL wb_v8f32 wb_v8f32_u wb_pool C_r A_local c0 c1 S0 S1 N_ workspace_ threads_
"""
NAMES = sorted({*KEYWORDS.split(), *LIBRARY.split(), *OURS.split(), "x" * 150, "_", "__", "_1"})


def usable(name):
    """Whether the operator language itself takes the name."""
    try:
        wb.operator(f"def f(float(N) {name}) -> (B0) {{ B0(i0) = {name}(i0) }}")
    except OperatorError:
        return False
    return True


GOOD = [name for name in NAMES if usable(name)]


def test_most_names_are_free():
    """Only the words of the language itself are taken."""
    taken = sorted(set(NAMES) - set(GOOD))
    assert len(GOOD) > 0.75 * len(NAMES), taken


def programs():
    """Programs in which every name is, in turn, an operator, a tensor, an index and a size."""
    random = Random(7)
    for _ in range(4):
        names = GOOD[:]
        random.shuffle(names)
        for start in range(0, len(names) - 7, 28):
            yield names[start : start + 28]


@pytest.mark.parametrize("compiler", ["gcc", "clang", "zig"])
def test_results_are_right_whatever_the_names(compiler, compilers):
    if compiler not in compilers:
        pytest.skip(f"install {compiler}")
    checked = 0
    for batch in programs():
        for size, name, a, b, out, row, column in zip(*(batch[k::7] for k in range(7)), strict=False):
            text = (
                f"def {name}(float({size}, {size}) {a}, float({size}) {b}) -> ({out}) {{ "
                f"{out}({row}) +=! {a}({row}, {column}) * {b}({column}) }}"
            )
            operator = wb.operator(text)
            left, right = np.ones((9, 9), "f"), np.arange(9, dtype="f")
            if checked % 8 == 0:  # compiling is slow; every text is at least generated
                with wb.settings(compiler=compiler, threads=2):
                    np.testing.assert_array_equal(operator(left, right), operator.evaluate(left, right))
            else:
                wb.generate(wb.autoschedule(operator), "c")
            checked += 1
    assert checked > 60


@pytest.mark.parametrize("name", ["größe", "Δ", "a-b", "a b", "1a", "a\\", "a;b", "a*/", "a\nb", "", "a" * 100_000])
def test_what_is_no_name_is_refused_where_it_stands(name):
    with pytest.raises(OperatorError) as caught:
        wb.operator(f"def f(float(N) {name}) -> (B) {{ B(i) = {name}(i) }}")
    assert len(str(caught.value)) < 5000


INJECTIONS = [
    '"; system("rm");', "*/ int evil; /*", "\\\n#include <evil.h>", "??/\n", "%s%n", "${HOME}", "`id`", "\x00",
    "\x1b[2J",
]  # fmt: skip


@pytest.mark.parametrize("payload", INJECTIONS)
@pytest.mark.parametrize("where", ["comment", "name", "size", "number", "after"])
def test_nothing_of_the_user_gets_into_c_unseen(payload, where):
    place = {k: payload if k == where else "" for k in ("comment", "name", "size", "number", "after")}
    text = (
        f"# {place['comment']}\ndef f{place['name']}(float(N{place['size']}) A) -> (B) "
        f"{{ B(i) = A(i) + 1{place['number']} }}{place['after']}"
    )
    try:
        source = wb.generate(wb.autoschedule(wb.operator(text)), "c").source
    except WorkbenchError:
        return
    assert not re.search(r"system|evil|rm\"|%n|HOME|`id`|\x00|\x1b", source)
