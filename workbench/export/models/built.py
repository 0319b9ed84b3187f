"""Whether something that is exported is a built model; what builds models is not loaded to find that out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from workbench.graph import BuiltModel

_HOME = "workbench.graph.running.built_models"


def is_built(what: Any) -> TypeGuard[BuiltModel]:
    """Whether it is what `wb.build(model)` gives: where its class was not loaded, nothing can be."""
    home = sys.modules.get(_HOME)
    return home is not None and isinstance(what, home.BuiltModel)
