"""Names on their way to isl and back: isl's keywords may be names of sizes, indices and tensors here."""

from __future__ import annotations

import re
from functools import lru_cache

KEYWORDS = frozenset(
    {"and", "or", "not", "exists", "implies", "min", "max", "mod", "floor", "ceil", "floord", "ceild"}
    | {"rat", "true", "false", "infty", "infinity", "nan"}
)  # isl compares without regard to case
WORD = re.compile(r"[A-Za-z_]\w*")
ITERATOR = re.compile(r"c\d+")


@lru_cache(maxsize=1 << 12)
def to_isl(name: str) -> str:
    """The spelling isl can read: a keyword gets an underscore (and so does a keyword with underscores).

    Names like `c0` are spelt differently too: isl gives them to the loops it generates.

    >>> to_isl("m"), to_isl("mod"), to_isl("Max_"), to_isl("c0")
    ('m', 'mod_', 'Max__', 'c0_')
    """
    return name + "_" if _reserved(name) else name


def from_isl(name: str) -> str:
    """The user's name again.

    >>> [from_isl(to_isl(n)) for n in ("m", "m_", "mod", "Max_")]
    ['m', 'm_', 'mod', 'Max_']
    """
    return name[:-1] if name.endswith("_") and _reserved(name) else name


def user_text(text: str) -> str:
    """A text of isl's with the user's names.

    >>> user_text("mod_ >= 0 and c0_ < N")
    'mod >= 0 and c0 < N'
    """
    return WORD.sub(lambda m: from_isl(m[0]), text)


def _reserved(name: str) -> bool:
    stem = name.rstrip("_")
    return stem.casefold() in KEYWORDS or ITERATOR.fullmatch(stem) is not None


def unique(name: str, taken: set[str]) -> str:
    """The name itself or with `_1`, `_2`, ... so that it is not among those taken.

    >>> unique("m", {"m", "m_1"})
    'm_2'
    """
    candidate, n = name, 0
    while candidate in taken:
        n += 1
        candidate = f"{name}_{n}"
    return candidate
