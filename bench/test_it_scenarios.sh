#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_it_scenarios.sh IT_SCENARIOS: every scenario runs to its end and reports all its rows, in a few short runs. How fast, is
# not looked at: that would fail on a busy machine.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

it_scenarios=$1
output=$(mktemp)
trap 'rm -f "$output"' EXIT

fail() { printf 'test_it_scenarios.sh: %s\n' "$*" >&2; cat "$output" >&2; exit 1; }

# expect ROWS SCENARIO ARGUMENTS...
expect() {
    local rows=$1 scenario=$2 good
    shift 2
    timeout $((100 * factor)) "$it_scenarios" --json --runs 2 --rounds 20 --seconds 0.002 --endpoints 10 --idle-time 0 "$@" "$scenario" \
        >"$output" || fail "failed: $scenario"
    good=$(grep -Ec "^\{\"scenario\": \"$scenario\", \"name\": \"[^\"]+\", \"value\": [0-9.e+-]+, \"unit\": \"[^\"]*\", \
\"reference\": ([0-9.e+-]+|null), \"ratio\": ([0-9.]+|null), \"sign\": (\"[<>]=\"|null), \"limit\": ([0-9.]+|null), \
\"verdict\": (\"ok\"|\"missed\"|null)\}$" "$output") || true
    [ "$good" = "$rows" ] || fail "$scenario: $good good rows in place of $rows"
}

expect 8 target
expect 72 busy
expect 48 sockets
expect 2 busy --match 'Reads, 64 KiB, 16 endpoints, 2 threads ('
expect 5 idle
expect 4 flood

status=0
"$it_scenarios" nonsense 2>/dev/null || status=$?
[ "$status" = 2 ] || fail 'an unknown scenario is accepted'
"$it_scenarios" --help >/dev/null || fail '--help fails'

# The path between two namespaces, if they can be made.
if [ "$(id -u)" = 0 ] && command -v ip >/dev/null && ip netns add "itapi-test-$$" 2>/dev/null; then
    ip netns del "itapi-test-$$"
    RUNS=1 OFFLOAD=off OPS=write SIZES=64k timeout $((100 * factor)) "$here/path.sh" --json "$(dirname "$it_scenarios")" >"$output" ||
        fail 'path.sh failed'
    grep -q '^{"scenario": "path", .*"ratio": [0-9].*"verdict": "' "$output" || fail 'path.sh: no good row'
    ! ip netns list | grep -q "itapi-.*-$$" || fail 'path.sh has left a namespace'
fi
