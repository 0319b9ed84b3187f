"""Numbers as people say them: bytes, counts, rates."""

from __future__ import annotations

_BYTES = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_COUNTS = ((1e12, 1e12, "T"), (1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k"))  # from where on, in what, called what


def bytes_text(count: float) -> str:
    """
    >>> bytes_text(12), bytes_text(49152), bytes_text(12_700_000)
    ('12 B', '48 KiB', '12.1 MiB')
    """
    for scale, unit in _BYTES:
        if count >= scale:
            return f"{_short(count / scale)} {unit}"
    return f"{_short(count)} B"


def count_text(count: float) -> str:
    """
    >>> count_text(1024), count_text(24_000), count_text(1_073_741_824), count_text(0.333)
    ('1024', '24 k', '1.07 G', '0.333')
    """
    for least, scale, unit in _COUNTS:
        if count >= least:
            return f"{_short(count / scale)} {unit}"
    return _short(count)


def _short(value: float) -> str:
    """Three digits, but all of a whole number's."""
    if value == int(value) and value < 1e5:
        return str(int(value))
    return f"{value:.3g}" if value < 999.5 else str(round(value))
