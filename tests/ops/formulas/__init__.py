"""What each operator of the library should give: plain NumPy formulas, written without looking at its text.

Every function takes the operator's arguments in order (floats as float64) and returns its outputs;
in/out operators take the old contents as `out`.
"""

from tests.ops.formulas import indices, linear, rows, sequences, windows
from tests.ops.formulas.registry import REFERENCES

__all__ = ["REFERENCES", "indices", "linear", "rows", "sequences", "windows"]
