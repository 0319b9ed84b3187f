"""islpy starts without asking for its own version, and still knows it."""

import subprocess
import sys
from importlib.metadata import version

from tests.support import ROOT


def test_the_version_is_that_of_the_package_and_nothing_was_asked():
    code = "import sys; from workbench.poly.sets import isl; import islpy"
    code += "; print(islpy.__version__, islpy.version.VERSION)"
    code += "; print('importlib.metadata' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    numbers = tuple(map(int, version("islpy").split(".")))
    assert told == f"{version('islpy')} {numbers}\nFalse\n"
