"""What steps call a loop: `m`, or `C.init/m` in the nest of a statement; and what loops made of it are called.

Steps take names as text, because people type them.  A `LoopName` is such a text that knows its two parts, and is taken
apart here alone: recipes hold these values, and ask them for the loops that a step makes.
"""

from __future__ import annotations

from collections.abc import Iterable


class LoopName(str):
    """The name of a loop as steps take it.

    >>> rows = LoopName("C.init/m")
    >>> rows.statement, rows.loop, rows.outer, rows.inner
    ('C.init', 'm', 'C.init/m_o', 'C.init/m_i')
    """

    __slots__ = ()

    @property
    def statement(self) -> str:
        """The name of a statement that the loop stands around; empty where one name is enough."""
        return self.rpartition("/")[0]

    @property
    def loop(self) -> str:
        """The loop's own name, without its statement."""
        return str(self.rpartition("/")[2])

    def beside(self, loop: str) -> LoopName:
        """Another loop of the same nest."""
        return loop_of(self.statement, loop)

    def around(self, statement: str) -> LoopName:
        """The loop of that name around another statement."""
        return loop_of(statement, self.loop)

    def part(self, word: str) -> LoopName:
        """A loop that is made of this one, called after it."""
        return LoopName(f"{self}_{word}")

    @property
    def outer(self) -> LoopName:
        """The loop over its blocks, as `split` and `tile` call it."""
        return self.part("o")

    @property
    def inner(self) -> LoopName:
        """The loop inside a block, as `split` and `tile` call it."""
        return self.part("i")


def loop_of(statement: str, loop: str) -> LoopName:
    """The loop around a statement, by its name; just the loop's name without a statement."""
    return LoopName(f"{statement}/{loop}" if statement else loop)


def loops_of(statement: str, loops: Iterable[str]) -> tuple[LoopName, ...]:
    """Some loops around a statement, by its name."""
    return tuple(loop_of(statement, loop) for loop in loops)


def over_blocks(loop: str) -> LoopName:
    """The loop over the blocks of a loop, as `split` and `tile` call it."""
    return LoopName(loop).outer


def in_block(loop: str) -> LoopName:
    """The loop inside a block of a loop, as `split` and `tile` call it."""
    return LoopName(loop).inner


def plain(loop: str) -> str:
    """The loop's name without its statement: `C.init/m` → `m`."""
    return LoopName(loop).loop


def fused_name(*loops: str) -> LoopName:
    """What `fuse` calls the loop that it makes of some."""
    return LoopName(loops[0]).beside("_".join(map(plain, loops)))
