#!/bin/sh
# Runs the quick tests on the newest Python that is found beside that of .venv, in a virtual environment of its own.
# Looks for python3.x on the path and among pyenv's; says so, and succeeds, where there is none.
set -eu
cd "$(dirname "$0")/.."

# Newer than the Python of .venv, and able to make an environment.
fits='import sys, venv, ensurepip; sys.exit(sys.version_info[:2] <= tuple(map(int, sys.argv[1].split("."))))'
ours=$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')

for minor in 14 13 12; do
    for candidate in "python3.$minor" "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.$minor".*/bin/python3; do
        if "$candidate" -c "$fits" "$ours" 2>/dev/null; then
            [ "$(.venv-newest/bin/python -V 2>&1)" = "$("$candidate" -V)" ] || rm -rf .venv-newest
            PYTHON=$candidate VENV=.venv-newest sh tools/setup.sh
            echo "The quick tests on $(.venv-newest/bin/python --version)"
            HYPOTHESIS_PROFILE=quick exec .venv-newest/bin/python -m pytest "$@"
        fi
    done
done
echo "No Python newer than $ours was found: the tests ran on that one only."
