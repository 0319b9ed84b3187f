"""Reading machine code: objdump's listing by hand, loops that a compiler moved out of line, what is a spill."""

from __future__ import annotations

import pytest

from workbench.runtime.measuring.machine_code import functions_of
from workbench.runtime.measuring.machine_loops import innermost_bodies, innermost_loops

LISTING = """
0000000000001000 <wb_border_call>:
    1000:	jmp    1000 <wb_border_call>
0000000000001010 <GOMP_parallel@plt>:
    1010:	jmp    1010 <GOMP_parallel@plt>
0000000000001100 <f._omp_fn.0>:
f._omp_fn.0():
/tmp/x/kernel.c:7
    1100:	vmovaps YMMWORD PTR [rsp+0x20],ymm3
    1104:	mov    rcx,QWORD PTR [rsp+0x8]
/tmp/x/kernel.c:8 (discriminator 3)
    1108:	vfmadd231ps ymm0,ymm1,YMMWORD PTR [rsp+0x40]
    110c:	vaddps ymm4,ymm4,YMMWORD PTR [rax+rcx*4]
    1110:	vaddss xmm5,xmm5,DWORD PTR [rsp+rcx*4+0x100]
    1114:	jmp    1130 <f._omp_fn.0+0x30>
    1118:	ret
/usr/include/x.h:99
    1130:	vmovups YMMWORD PTR [rdi],ymm4        # 3020 <constant>
    1134:	vcmpltps ymm6,ymm0,ymm4
    1138:	jne    1100 <f._omp_fn.0>
    113c:	ret
"""


def loop():
    (found,) = innermost_loops(functions_of(LISTING))
    return found


def test_only_the_generated_functions_are_read():
    assert [f.name for f in functions_of(LISTING)] == ["f._omp_fn.0"]


def test_a_loop_that_goes_on_elsewhere_is_one_loop():
    assert [i.address for i in loop().instructions][-3:] == [0x1130, 0x1134, 0x1138]
    assert 0x1118 not in [i.address for i in loop().instructions]
    assert loop().lines == (7, 8)


def test_what_computes_is_counted_with_its_lanes():
    found = loop()
    assert (found.fused, found.others, found.vectors, found.bits) == (1, 3, 3, 256)
    assert found.results == 8 + 8 + 1 + 8
    assert found.vectorised


def test_a_spill_is_at_a_constant_place_of_the_stack():
    found = loop()
    assert (found.loads, found.stores) == (4, 2)
    assert (found.spill_loads, found.spill_stores, found.reloads) == (1, 1, 1)
    assert found.loads_per_fused == 4


def test_rbp_is_the_stack_only_behind_a_frame():
    body = "    1104:\tvaddps ymm4,ymm4,YMMWORD PTR [rbp-0x40]\n    1108:\tjne    1104 <f>\n"
    (without,) = innermost_loops(functions_of(f"0000000000001100 <f>:\n    1100:\tnop\n{body}"))
    (framed,) = innermost_loops(functions_of(f"0000000000001100 <f>:\n    1100:\tmov    rbp,rsp\n{body}"))
    assert (without.spills, framed.spills) == (0, 1)


@pytest.mark.parametrize(
    ("jumps", "bodies"),
    [
        ({3: 1}, [[1, 2, 3]]),
        ({3: 2, 5: 1}, [[2, 3]]),
        ({2: 1, 5: 4}, [[1, 2], [4, 5]]),
        ({1: 4, 5: 2}, [[2, 3, 4, 5]]),
    ],
)
def test_innermost_loops_of_small_graphs(jumps, bodies):
    """`jumps`: conditional jumps from one address to another; the last case enters its loop in the middle."""
    lines = [f"    {n}:\t{f'jne    {jumps[n]} <f>' if n in jumps else 'nop'}" for n in range(7)]
    (function,) = functions_of("0000000000000000 <f>:\n" + "\n".join(lines))
    entered_in_the_middle = any(t > s for s, t in jumps.items())
    expected = [] if entered_in_the_middle else bodies
    assert [[i.address for i in body] for body in innermost_bodies(function.instructions)] == expected


@pytest.mark.parametrize("filler", ["nop", "nop DWORD PTR [rax+0x0]", "data16 cs nop WORD PTR [rax+0x0]", "xchg ax,ax"])
def test_a_part_of_a_loop_may_stand_behind_its_end(filler):
    """Out of line, behind a jump back into the loop, and room that nobody comes to between them."""
    lines = ["0:\tnop", "1:\tje    6 <f>", "2:\tinc    eax", "3:\tjne    1 <f>", "4:\tret", f"5:\t{filler}"]
    lines += ["6:\tdec    eax", "7:\tjmp    2 <f>", f"8:\t{filler}", "9:\tret"]
    (function,) = functions_of("0000000000000000 <f>:\n" + "\n".join(f"    {line}" for line in lines))
    assert [[i.address for i in body] for body in innermost_bodies(function.instructions)] == [[1, 2, 3, 6, 7]]
