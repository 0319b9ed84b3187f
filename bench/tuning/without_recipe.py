"""python -m bench.tuning.without_recipe: operators that no recipe was written for, tuned with 64 trials each.

Default and best schedule are timed again, in turn, at the end.
"""

from __future__ import annotations

import sys

from bench.record import Tuned
from bench.tuning.campaign import Campaign, main
from bench.tuning.odd_operators import ODD
from bench.tuning.studies import in_turn

CASES = {odd.name: odd for odd in ODD}


def run(case: str, trials: int) -> Tuned:
    """One operator of the list."""
    return in_turn(case, CASES[case].operator, CASES[case].sizes, trials)


CAMPAIGN = Campaign("without_recipe", "twenty operators without a recipe", 64, CASES, run)

if __name__ == "__main__":
    sys.exit(main(CAMPAIGN))
