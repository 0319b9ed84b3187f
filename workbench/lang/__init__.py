"""The operator language: text to Operator, and what an Operator means without any loop nest."""

import workbench.lang.operator
from workbench.lang.definitions import operator, operators
from workbench.lang.folding import fold

__all__ = ["fold", "operator", "operators"]
