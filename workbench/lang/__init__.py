"""The operator language: text to Operator, and what an Operator means without any loop nest."""

import workbench.lang.operator
from workbench.lang.binding import Binding, bind
from workbench.lang.definitions import operator, operators
from workbench.lang.folding import fold
from workbench.lang.from_einsum import einsum
from workbench.lang.generics import astype
from workbench.lang.oracle import evaluate

__all__ = ["Binding", "astype", "bind", "einsum", "evaluate", "fold", "operator", "operators"]
