"""C loop nests as operators: every loop is a sequential axis, every assignment a statement of its own.

`raise_c` reads a text (pycparser gives the tree), checks that bounds and conditions are affine, and gives the
`Operator` with the text that says the same in order (`Raised.sequential`), which is its oracle.
"""

from workbench.fromc.parameters.parameters import Parameter
from workbench.fromc.program import from_c, raised_from
from workbench.fromc.raising import Raised, raise_c

__all__ = ["Parameter", "Raised", "from_c", "raise_c", "raised_from"]
