"""C's conversions between integer types: what is raised computes what the text does, compiled as it stands at -O0."""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.fromc.conversions import TYPES, Expressions, Node, Undefined, counted, evaluate, kept
from tests.support import examples
from workbench.errors import CallError
from workbench.runtime.compilers.discovery import preferred_toolchain

CTYPES = {
    name: getattr(ctypes, f"c_{'' if signed else 'u'}int{bits}") for name, (bits, signed) in TYPES.items()
}  # fmt: skip
LAST, ROW = 24, 64

Names = dict[str, tuple[str, int]]
Cells = dict[tuple[int, int, int], int]

# Statements about i in 0 ... 31 and n; the counter's type, the type of n.
FORMS = {
    "a cast of a difference": ("int", "int", "(unsigned)(i-3) < 5"),
    "a literal": ("int", "int", "i-3 < 5u"),
    "a long literal": ("int", "int", "i-1 < 4ul"),
    "a complement": ("int", "int", "i >= ~5u"),
    "a difference of a size": ("int", "int", "n-20 > 3u"),
    "an unsigned size": ("int", "unsigned", "n-20 > 3u"),
    "an unsigned counter against -1": ("unsigned", "int", "i > -1"),
    "both sides": ("int", "int", "(unsigned)(i-1) >= (unsigned)(n-2)"),
    "int against unsigned": ("int", "unsigned", "i - 4 < n"),
    "int against unsigned long": ("int", "unsigned long", "i - 4 < n"),
    "long against unsigned": ("long", "unsigned", "i - 4 < n"),
    "unsigned against long": ("unsigned", "long", "i - 4 < n - 9"),
    "a narrow sum": ("int", "int", "(unsigned char)(i + 250) < 3"),
    "a narrow sum with a sign": ("int", "int", "(signed char)(i + 120) < 0"),
    "a short": ("int", "int", "(unsigned short)(i - 7) > n"),
    "a truth": ("int", "int", "(_Bool)(i - 3) < (unsigned)n"),
    "not": ("int", "int", "!((unsigned)(i - 3))"),
    "the truth of a difference": ("unsigned", "unsigned", "i - n"),
    "and": ("int", "int", "i - 3u < 5 && (unsigned)(n - i) > 2"),
    "or": ("int", "int", "i - 3u < 5 || !(n - 4u < 9u)"),
    "a choice": ("int", "int", "(i < 5 ? i - 7 : 2u) > 9"),
    "a quotient": ("int", "int", "(i - 5u) / 2 == 2147483646"),
    "a remainder": ("int", "int", "(i - 9u) % 7 < 3"),
    "a shift right": ("int", "int", "((unsigned)(i - 5) >> 30) == 3"),
    "a shift left": ("int", "int", "((unsigned)i << 30) == 0"),
    "a product": ("int", "int", "i * 2147483648u > 5"),
    "a minus": ("int", "int", "-(unsigned)i > 4294967290u"),
    "widened after it wrapped": ("int", "int", "(long)(i - 5u) > 100"),
    "turns of 64 bits on both sides": ("int", "unsigned char", "(short)(i - n) < ~250ul + n % 7u"),
    "a remainder of a turn": ("unsigned", "unsigned", "(20ul - (1u - n - 2*i)) % 7u <= -(i <= n ? 300 : n)"),
    "a quotient of a turn": ("unsigned", "unsigned", "(n - 20ul - i) / 9 > 5"),
    "a turn beside a remainder": ("int", "unsigned short", "i % 3ul > (n > 300l ? ~5 : 1ul - i)"),
    "a turn beside a choice": ("int", "unsigned long", "-1 + (1 - n) <= (4 < n ? i % 16ul : n - n)"),
    "narrowed and widened": ("int", "int", "(long)(short)(i - 5u + 65536u) < 0"),
}


def compiled(text: str, folder: Path) -> Callable[..., None]:
    """The function `f` of a text, by the compiler alone and without any optimisation."""
    source, library = folder / "text.c", folder / "text.so"
    source.write_text(text)
    compiler = preferred_toolchain()
    subprocess.run(
        [*compiler.command, "-O0", "-fwrapv", "-w", "-shared", "-fPIC", str(source), "-o", str(library)], check=True
    )
    return ctypes.CDLL(str(library)).f


def by_the_text(f: Callable[..., None], kind: str, n: int, *arrays: Any) -> None:
    f(CTYPES[kind](n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))


def sizes(kind: str) -> tuple[int, ...]:
    return (0, 1, 3, 19, 20, 21, 127, *((-1, -5, -128) if TYPES[kind][1] else (200, 255)))


def form(kind: str, of_n: str, condition: str) -> str:
    return (
        f"void f({of_n} n, int A[3][32], long V[32]) {{ for ({kind} i = 0; i < 32; i++) {{\n"
        f"if ({condition}) A[0][i] = 1; else A[0][i] = 2;\nA[1][i] = ({condition}) ? 3 : 4;\n"
        f"A[2][({condition}) ? i : 31 - i] += 1;\nV[i] = ({condition}); }} }}"
    )


@pytest.mark.parametrize("name", FORMS)
def test_a_comparison_is_made_in_the_type_that_c_converts_both_sides_to(name, tmp_path):
    kind, of_n, condition = FORMS[name]
    text = form(kind, of_n, condition)
    plain, kernel = compiled(text, tmp_path), wb.build(wb.schedule(wb.from_c(text)))
    for n in sizes(of_n):
        own, expected = ([np.zeros((3, 32), "i4"), np.zeros(32, "i8")] for _ in range(2))
        kernel(n, *own)
        by_the_text(plain, of_n, n, *expected)
        for a, b in zip(own, expected, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f"n = {n}")


def test_a_local_constant_keeps_the_type_it_is_declared_with(tmp_path):
    text = """void f(int n, int A[4][32]) { for (int i = 0; i < 32; i++) {
        unsigned k = i - 3; const unsigned char c = i + 250; short s = i * 5000; _Bool b = i - 7;
        if (k < 5) A[0][i] = 1;
        if (c < n) A[1][i] = 1;
        if (s < 0) A[2][i] = 1;
        if (b == 1) A[3][i] = 1; } }"""
    plain, kernel = compiled(text, tmp_path), wb.build(wb.schedule(wb.from_c(text)))
    for n in (-1, 0, 4, 300):
        own, expected = np.zeros((4, 32), "i4"), np.zeros((4, 32), "i4")
        kernel(n, own)
        by_the_text(plain, "int", n, expected)
        np.testing.assert_array_equal(own, expected, err_msg=f"n = {n}")


@pytest.mark.parametrize("use", ["A[i] = n < i ? 1 : 2;", "if (i < n) A[i] = 2;", "A[i < n ? i : 2] = 1;"])
def test_an_unsigned_number_beyond_int64_that_is_taken_as_a_whole_one_is_refused(use):
    text = f"void f(uint64_t n, int A[3]) {{ for (int i = 0; i < 3; i++) {{ {use} }} }}"
    kernel, own = wb.build(wb.schedule(wb.from_c(text))), np.zeros(3, "i4")
    kernel(1, own)
    for n in (1 << 63, (1 << 64) - 1):
        with pytest.raises(CallError, match=f"n = {n} shapes the program: expected .* to 9223372036854775807"):
            kernel(n, own)


@pytest.mark.parametrize("seed", range(examples(quick=5, ci=12, full=200)))
def test_random_conversions_give_what_the_text_gives(seed, tmp_path):
    batch = Batch(seed, 30)
    text = batch.text()
    plain, kernel = compiled(text, tmp_path), wb.build(wb.schedule(wb.from_c(text)))
    for n in sizes(batch.of_n):
        own, expected = ([np.zeros((30, ROW), "i4"), np.zeros((30, ROW), "i8")] for _ in range(2))
        kernel(n, *own)
        by_the_text(plain, batch.of_n, n, *expected)
        means = batch.meaning(n)
        for (place, row, column), value in means.items():
            at = f"n = {n}, i = {column - 4}\n{batch.lines[row][0]}\n{batch.head}"
            assert expected[place][row, column] == value, f"the interpreter is wrong: {at}"
            assert own[place][row, column] == value, at


class Batch:
    """A function of many statements, each an expression of its own in a loop over `i`, with `n` and a local `k`."""

    def __init__(self, seed: int, count: int) -> None:
        self.random = random.Random(seed)
        pick = self.random.choice
        self.of_n, self.of_k = pick(list(TYPES)), pick(list(TYPES))
        self.of_i = pick(("int", "int", "unsigned", "long", "unsigned long"))
        self.first = pick((0, 2)) if "unsigned" in self.of_i else pick((0, -4))
        self.k = Expressions(seed, ("i", "n")).value(2)
        self.count = count
        self.lines: list[tuple[str, int, Node]] = []
        expressions = Expressions(seed, ("i", "n", "k"))
        while len(self.lines) < count:
            line = self._line(expressions)
            if accepted(self._around([line])):
                self.lines.append(line)

    def _line(self, expressions: Expressions) -> tuple[str, int, Node]:
        row, kind = len(self.lines), self.random.randrange(4)
        if kind == 0:
            node = expressions.value(3)
            return f"V[{row}][i+4] = {node.text};", 1, node
        node = expressions.condition(self.random.randrange(1, 4)) if kind < 3 else expressions.value(2)
        if kind == 1:
            return f"A[{row}][i+4] = ({node.text}) ? 1 : 0;", 0, Node("", "!", (Node("", "!", (node,)),))
        if kind == 2:
            return f"if ({node.text}) A[{row}][i+4] = 1;", 0, Node("", "!", (Node("", "!", (node,)),))
        # the subscript is the number of the cell that stands in it
        clipped = Node("", "cast", ("unsigned char", node))
        chosen = Node("", "==", (Node("", "%", (clipped, Node("", "number", ("int", ROW)))), Node("", "at", ())))
        return f"A[{row}][(unsigned char)({node.text}) % {ROW}] = 1;", 2, chosen

    def _around(self, lines: list[tuple[str, int, Node]]) -> str:
        body = "\n".join(line for line, _, _ in lines)
        return f"{self.head}\n{body} }} }}"

    @property
    def head(self) -> str:
        loop = f"for ({self.of_i} i = {self.first}; i < {LAST}; i++)"
        arrays = f"int A[{self.count}][{ROW}], long V[{self.count}][{ROW}]"
        return f"void f({self.of_n} n, {arrays}) {{ {loop} {{ const {self.of_k} k = {self.k.text};"

    def text(self) -> str:
        return self._around(self.lines)

    def environments(self, n: int) -> Iterator[Names]:
        for i in range(self.first, LAST):
            env = {"i": (self.of_i, i), "n": (self.of_n, n)}
            yield {**env, "k": (self.of_k, kept(evaluate(self.k, env)[1], self.of_k))}

    def meaning(self, n: int) -> Cells:
        """(array, row, column) → value, where C defines it."""
        try:
            envs = list(self.environments(n))
        except Undefined:
            return {}
        found: Cells = {}
        for row, (_, kind, node) in enumerate(self.lines):
            if kind == 2:
                found |= self._scattered(row, node, envs)
                continue
            for env in envs:
                try:
                    found[kind, row, env["i"][1] + 4] = kept(evaluate(node, env)[1], "long")
                except Undefined:
                    continue
        return found

    def _scattered(self, row: int, node: Node, envs: list[Names]) -> Cells:
        cell = node.parts[0]
        try:
            hit = {evaluate(cell, env)[1] for env in envs}
        except Undefined:
            return {}
        return {(0, row, column): int(column in hit) for column in range(ROW)}


def accepted(text: str) -> bool:
    """Whether it is raised; what is not affine may be refused."""
    try:
        wb.from_c(text)
    except wb.errors.OperatorError as error:
        if "not affine" not in str(error):
            raise
        return False
    return True


HEADS = (
    "{t} i = {a}; i < {b}; i++",
    "{t} i = {a}; i <= {b}; i += 3",
    "{t} i = {b}; i > {a}; i--",
    "{t} i = {b}; {a} <= i; i -= 2",
    "{t} i = {a}; i != {b}; i++",
    "{t} i = {a}; i < {b} && i < 9; i++",
)
BOUNDS = ("n", "n - 3", "n + 2u", "(unsigned)n", "(long)n - 2", "7", "-2", "3u", "0", "n * 2ul", "(unsigned char)n",
          "(unsigned char)(n + 250)", "n / 2", "n - 5u")  # fmt: skip
WITHOUT_END = 5_000


def iterations(head: str, parts: dict[str, str], of_n: str, n: int) -> int | None:
    """How often a loop runs by the rules of C; None where it has no end in sight, or no meaning."""
    own = parse_head(head, parts)
    kind, env, count = parts["t"], {"n": (of_n, n)}, 0
    try:
        i = kept(evaluate(own["first"], env)[1], kind)
        while evaluate(own["goes on"], {**env, "i": (kind, i)})[1]:
            count += 1
            if count > WITHOUT_END:
                return None
            i = counted(i + own["step"], kind) if TYPES[kind][0] >= 32 else kept(i + own["step"], kind)
    except Undefined:
        return None
    return count


def parse_head(head: str, parts: dict[str, str]) -> dict[str, Any]:
    """First value, condition and step of one of HEADS."""
    i, a, b = Node("i", "name", ("i",)), bound(parts["a"]), bound(parts["b"])
    place = HEADS.index(head)
    nine = Node("9", "number", ("int", 9))
    conditions = (
        Node("", "<", (i, b)), Node("", "<=", (i, b)), Node("", ">", (i, a)), Node("", "<=", (a, i)),
        Node("", "!=", (i, b)), Node("", "&&", (Node("", "<", (i, b)), Node("", "<", (i, nine)))),
    )  # fmt: skip
    steps = (1, 3, -1, -2, 1, 1)
    return {"first": b if steps[place] < 0 else a, "goes on": conditions[place], "step": steps[place]}


def bound(text: str) -> Node:
    """The tree of one of BOUNDS."""
    n = Node("n", "name", ("n",))

    def whole(value: int, kind: str = "int") -> Node:
        return Node("", "number", (kind, value))

    return {
        "n": n, "n - 3": Node("", "-", (n, whole(3))), "n + 2u": Node("", "+", (n, whole(2, "unsigned"))),
        "(unsigned)n": Node("", "cast", ("unsigned", n)),
        "(long)n - 2": Node("", "-", (Node("", "cast", ("long", n)), whole(2))),
        "7": whole(7), "-2": whole(-2), "3u": whole(3, "unsigned"), "0": whole(0),
        "n * 2ul": Node("", "*", (n, whole(2, "unsigned long"))),
        "(unsigned char)n": Node("", "cast", ("unsigned char", n)),
        "(unsigned char)(n + 250)": Node("", "cast", ("unsigned char", Node("", "+", (n, whole(250))))),
        "n / 2": Node("", "/", (n, whole(2))), "n - 5u": Node("", "-", (n, whole(5, "unsigned"))),
    }[text]  # fmt: skip


def loops(seed: int, count: int) -> Iterator[tuple[str, dict[str, str], str]]:
    """(head, its parts, type of n) of random loops."""
    numbers = random.Random(seed)
    for _ in range(count):
        kind = numbers.choice(("int", "unsigned", "long", "unsigned long"))
        parts = {"t": kind, "a": numbers.choice(BOUNDS), "b": numbers.choice(BOUNDS)}
        yield numbers.choice(HEADS), parts, numbers.choice(list(TYPES))


@pytest.mark.parametrize("seed", range(examples(quick=2, ci=4, full=40)))
def test_a_random_loop_runs_as_often_as_in_c_or_is_refused(seed):
    """Loops are raised alone and compiled together; those without an end in C are not run."""
    raised: dict[str, list[tuple[str, dict[str, str], int]]] = {}
    for place, (head, parts, of_n) in enumerate(loops(seed, 60)):
        line = f"for ({head.format(**parts)}) A[{place}] += 1;"
        text = f"void f({of_n} n, long A[60]) {{ {line} }}"
        try:
            wb.from_c(text)
        except wb.errors.OperatorError:
            continue
        else:
            raised.setdefault(of_n, []).append((head, parts, place))
    assert sum(map(len, raised.values())) >= 10
    for of_n, found in raised.items():
        lines = "\n".join(f"for ({head.format(**parts)}) A[{place}] += 1;" for head, parts, place in found)
        kernel = wb.build(wb.schedule(wb.from_c(f"void f({of_n} n, long A[60]) {{ {lines} }}")))
        for n in sizes(of_n):
            counts = np.zeros(60, "i8")
            kernel(n, counts)
            for head, parts, place in found:
                expected = iterations(head, parts, of_n, n)
                assert expected is None or counts[place] == expected, f"{of_n} n = {n}: {head.format(**parts)}"
