"""The steps behind an interactive view, for a convolution of seven loops; run in a fresh process, prints JSON.

    python -m bench.latency.interactive ROUNDS

The first round is that of a fresh process after `import workbench`; each round has another text, so that no cache
helps a later one.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import workbench as wb

TEXT = """
def conv_{n}(float(N,C,H,W) I, float(F,C,KH,KW) K) -> (O) {{
    O(n,f,y,x) +=! I(n,c,y+kh,x+kw) * K(f,c,kh,kw)
}}
"""
BOUND = {"N": 2, "C": 64, "H": 58, "W": 58, "F": 64, "KH": 3, "KW": 3}


def steps(text: str, sizes: dict[str, int]) -> dict[str, float]:
    """Seconds of each step."""
    seconds: dict[str, float] = {}

    def timed(name: str, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        start = time.perf_counter()
        result = function(*arguments, **keywords)
        seconds[name] = time.perf_counter() - start
        return result

    operator = timed("parse", lambda: wb.operator(text))
    program = timed("lower", lambda: wb.lower(operator, sizes))
    timed("dependences", lambda: wb.poly.dependences(program))
    schedule = timed("naive schedule", lambda: wb.schedule(operator, sizes=sizes))
    timed("C text", lambda: wb.generate(schedule, "c"))
    return {**seconds, "all of it": sum(seconds.values())}


def main(rounds: int) -> None:
    """First time and warm, with bound and symbolic sizes."""
    first = steps(TEXT.format(n="first"), BOUND)
    warm = [steps(TEXT.format(n=n), {**BOUND, "N": 3 + n}) for n in range(rounds)]
    symbolic = [steps(TEXT.format(n=f"s{n}"), {}) for n in range(rounds)]
    print(json.dumps({"first": [first], "bound": warm, "symbolic": symbolic}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
