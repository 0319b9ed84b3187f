"""Small C functions that each do one thing many times, from which `calibrate` takes what the thing costs."""

from __future__ import annotations

from workbench.target import Target

ADDITIONS, STEPS, DIVISIONS = 64, 16, 8
"""Of a chain of additions of whole numbers, of a chain of multiply-adds, quotients side by side: in each iteration."""

READS = 8
"""Vectors read in each iteration, each added to a sum of its own."""

PANEL = 3
"""Vectors of a row of the panel that is filled."""

# Results go behind the factors, which the next call finds as they were: numbers that grow to infinity, or are none, are
# computed faster by some processors.
_TEXT = """\
#include <stdint.h>
typedef float V __attribute__((vector_size($BYTES$)));
typedef float U __attribute__((vector_size($BYTES$), aligned(4)));
#define EXPORT __attribute__((visibility("default")))

EXPORT int64_t wb_cycle(int64_t n)
{
    int64_t x = 1, y = n;
    for (int64_t i = 0; i < n; i++) {
        $ADDITIONS$
    }
    return x;
}

EXPORT int64_t wb_turn(int64_t n)
{
    int64_t i = 0;
    for (; i < n; i++) __asm__ volatile("" : "+r"(i));
    return i;
}

EXPORT void wb_waiting(float *cell, int64_t n)
{
    V x = {0}, a = x + cell[0], b = x + cell[1];
    for (int64_t i = 0; i < n; i++) {
        $WAITING$
    }
    *(U *)(cell + $LANES$) = x;
}

EXPORT void wb_multiply_add(float *cell, int64_t n)
{
    V a = (V){0} + cell[0], b = (V){0} + cell[1], $CHAINS$;
    for (int64_t i = 0; i < n; i++) {
        $ABREAST$
    }
    *(U *)(cell + $LANES$) = $SUM$;
}

EXPORT void wb_division(float *cell, int64_t n)
{
    V a = (V){0} + cell[0], $QUOTIENTS$;
    for (int64_t i = 0; i < n; i++) {
        $DIVIDE$
    }
    *(U *)(cell + $LANES$) = $QUOTIENT_SUM$;
}

EXPORT void wb_gather(const float *table, const int32_t *index, int64_t count, float *cell, int64_t n)
{
    V x = {0};
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < count; j += $LANES$) {
            const V y = { $GATHERED$ };
            x += y;
        }
    *(U *)cell = x;
}

EXPORT void wb_copy(const float *from, int64_t rows, int64_t columns, float *panel, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < columns; j += $WIDTH$)
            for (int64_t k = 0; k < rows; k++) {
                const U *row = (const U *)(from + k*columns + j);
                V *to = (V *)(panel + k*$WIDTH$);
                $COPIED$
            }
}

EXPORT void wb_read(const float *from, int64_t vectors, float *cell, int64_t n)
{
    V $SUMS$;
    for (int64_t i = 0; i < n; i++) {
        const V *p = (const V *)from;
        __asm__ volatile("" : "+r"(p) : : "memory");
        for (int64_t j = 0; j < vectors; j += $READS$) {
            $READ$
        }
    }
    *(U *)cell = $READ_SUM$;
}

EXPORT void *wb_miss(void **line, int64_t n)
{
    for (int64_t i = 0; i < n; i++) line = *line;
    return line;
}
"""


def cost_text(machine: Target) -> str:
    """The C text of all functions, for vectors of a machine."""
    lanes, chains = machine.lanes(32), chains_of(machine)
    values = {
        "BYTES": machine.vector_bits // 8, "LANES": lanes, "WIDTH": PANEL * lanes, "READS": READS,
        "ADDITIONS": 'x += y; __asm__ volatile("" : "+r"(x));\n        ' * ADDITIONS,
        "WAITING": "x = x*a + b; " * STEPS,
        "CHAINS": _begun("x", chains), "ABREAST": _each("x{0} = x{0}*a + b;", chains), "SUM": _sum("x", chains),
        "QUOTIENTS": _begun("x", DIVISIONS), "DIVIDE": _each("x{0} = a / x{0};", DIVISIONS),
        "QUOTIENT_SUM": _sum("x", DIVISIONS),
        "GATHERED": ", ".join(f"table[index[j + {n}]]" for n in range(lanes)),
        "COPIED": _each("to[{0}] = row[{0}];", PANEL),
        "SUMS": _begun("s", READS), "READ": _each("s{0} += p[j + {0}];", READS), "READ_SUM": _sum("s", READS),
    }  # fmt: skip
    text = _TEXT
    for name, value in values.items():
        text = text.replace(f"${name}$", str(value))
    return text


def chains_of(machine: Target) -> int:
    """Multiply-adds that do not wait for one another: as many as registers hold beside both factors."""
    return min(machine.vector_registers, 32) - 4


def _begun(name: str, count: int) -> str:
    return ", ".join(f"{name}{n} = (V){{0}} + {n + 1}" for n in range(count))


def _each(text: str, count: int) -> str:
    return " ".join(text.format(n) for n in range(count))


def _sum(name: str, count: int) -> str:
    return " + ".join(f"{name}{n}" for n in range(count))
