"""The enumerations that judge legality agree with isl where isl can say the same, and with one another."""

from __future__ import annotations

from random import Random

import pytest

from tests.poly.interpreting import instances
from tests.properties.cases import subject
from tests.properties.instance_sets import points
from tests.properties.touching import keys_of, of_operator
from tests.support import examples
from workbench.poly.sets import isl


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[N] -> { S0[i, j = 2i] : 0 <= i < N and exists (e0 = floor((i)/2): 2e0 = i) }", [(0, 0), (2, 4)]),
        ("[N] -> { S0[i, 3] : 0 <= i, 1 < N and i < N; S0[4, i] : i = 1 or i = 3 }", [(n, 3) for n in range(4)]
         + [(4, 1), (4, 3)]),
        ("{ S1[i] : exists (e0: 3e0 = i and 0 <= i < 10) }", [(0,), (3,), (6,), (9,)]),
        ("{ S1[i] : (i) mod 3 = 1 and 2*floor((i)/2) < i and 0 <= i < 10 }", [(1,), (7,)]),
        ("{ S1[] : 1 = 0 }", []),
        ("{ S1[] }", [()]),
    ],
)  # fmt: skip
def test_the_text_of_a_set_is_read(text, expected):
    assert list(points(text, (("N", 4),))) == sorted(expected)


def test_instances_are_those_of_isl_and_of_the_text():
    """Domains as they are written, and as isl writes them; of the program, and of the operator."""
    found = 0
    for seed in range(examples(quick=15, ci=50, full=500)):
        of = subject(seed)
        if of is None:
            continue
        sizes = of.some_sizes(Random(seed))
        everything = {**of.program.sizes, **sizes}
        wanted = instances(of.program, everything)
        for s in of.program.statements:
            own = sorted(point for key, point in wanted if key == s.id)
            for text in (s.domain, isl.text_of(isl.parse_set(s.domain).coalesce())):
                assert list(points(text, tuple(sorted(everything.items())))) == own, text
        keys = set(keys_of(of.program, sizes))
        assert {event.key for event in of_operator(of.op, everything, of.at(sizes).contents)} == keys
        found += len(wanted)
    assert found
