"""How OpenMP's threads wait for work.

GCC's runtime lets a waiting thread spin for milliseconds before it sleeps.  While other processes use the cores, the
spinning thread keeps from running the one it waits for: products of a few milliseconds took forty.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

SPINS = "10000"
"""About thirty microseconds: longer than from one parallel loop to the next, shorter than a time slice."""


def wait_briefly(environment: MutableMapping[str, str] = os.environ) -> None:
    """Let threads sleep soon, unless the user has said how they shall wait.

    The runtime reads this once, when the first kernel is loaded; if another library brought it in before, nothing
    changes.
    """
    if "OMP_WAIT_POLICY" not in environment:
        environment.setdefault("GOMP_SPINCOUNT", SPINS)
