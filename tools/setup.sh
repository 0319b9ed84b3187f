#!/bin/sh
# Makes .venv (or VENV): the locked packages of requirements.lock and this tree, installed in place.
# Does nothing when that has been done for exactly this lock file, in this folder.
set -eu
cd "$(dirname "$0")/.."
venv=${VENV:-.venv}

recent='import sys; sys.exit(sys.version_info < (3, 11))'
key=$({ pwd; cat requirements.lock pyproject.toml workbench/labextension/sources.sha256; } | cksum | tr -d ' ')
if [ -f "$venv/ready-$key" ] && "$venv/bin/python" -c "$recent" 2>/dev/null; then
    exit 0
fi

fail() {
    echo >&2
    echo "tensor-workbench: $1" >&2
    exit 1
}

python=
for candidate in "${PYTHON:-python3}" python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -c "$recent" 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    found=$("${PYTHON:-python3}" --version 2>&1) || found="no ${PYTHON:-python3}"
    fail "Python 3.11 or newer is needed (found: $found).
Install it, or name one: make PYTHON=/path/to/python3.12 ..."
fi
if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    fail "$("$python" --version) has no venv module.
On Debian and Ubuntu: sudo apt install python3-venv    (elsewhere: a Python with ensurepip)"
fi

echo "Setting up $venv with $("$python" --version) (once; two or three minutes, 1.1 GB) ..."
rm -f "$venv"/ready-*
"$venv/bin/python" -c "$recent" 2>/dev/null || "$python" -m venv --clear "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r requirements.lock ||
    fail "the locked packages could not be installed; pip's message is above. Is the network reachable?"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
touch "$venv/ready-$key"
