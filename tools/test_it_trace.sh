#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_it_trace.sh IT_TRACE IT_RPING: the counters of a running it_rping, by path and by process.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
. "$(dirname "${BASH_SOURCE[0]}")/../samples/common/server.bash"

it_trace=$1 it_rping=$2

status() { # status WANTED COMMAND...
    local wanted=$1 got=0
    shift
    timeout $((60 * factor)) "$@" >"$folder/out" 2>"$folder/err" || got=$?
    [ "$got" = "$wanted" ] || fail "exit status $got, not $wanted: $* $(cat "$folder/err")"
}

has() {
    grep -qE -- "$1" "$folder/out" || fail "no line like $1 in: $(cat "$folder/out")"
}

mkdir "$folder/stats"
ITAPI_STATS="$folder/stats" start_server "$it_rping" -s -P -p 0
socket="$folder/stats/itapi.$server_pid"
if [ ! -S "$socket" ]; then # the server may be a child of its launcher
    socket=$(find "$folder/stats" -type s | head -n 1)
fi
pid=${socket##*.}

timeout $((60 * factor)) "$it_rping" -c -a 127.0.0.1 -p "$port" -C 20 -S 2000 >/dev/null || fail 'the client failed'

status 0 "$it_trace" "$socket"
has "^itapi .*pid=$pid "
has '^ia .*interface=uiwarp .*transport=iwarp '
has '^ +connections_accepted +[1-9]'
has '^ +bytes_received +[1-9][0-9]{4}'
status 0 "$it_trace" "$pid"
has "^itapi .*pid=$pid "
status 0 "$it_trace" --json "$socket"
has '"interface": "uiwarp",$'
if command -v python3 >/dev/null; then
    python3 - "$folder/out" <<'END' || fail 'JSON of another shape'
import json, sys
told = json.load(open(sys.argv[1]))
ia = told["adapters"][0]
assert ia["bytes_received"] > 15 * 2000 and ia["crc_errors"] == 0
assert ia["eps"] == ia["eps_told"] == len(ia["endpoints"])
END
fi
status 0 "$it_trace" --watch 0.05 --count 3 "$socket"
[ "$(grep -c '^itapi ' "$folder/out")" = 3 ] || fail '--count 3 does not print three times'
has '^ +bytes_received +[0-9]+ +[0-9.]+/s$'
status 0 "$it_trace" --json --watch 0.05 --count 2 "$socket"
has '"per_second": \{$'

status 1 "$it_trace" "$folder/stats/none"
grep -q 'No such file' "$folder/err" || fail 'a socket that is missing is not complained about'
status 1 "$it_trace" $$
grep -q 'was not started with ITAPI_STATS' "$folder/err" || fail "a process without: $(cat "$folder/err")"
status 2 "$it_trace"
status 2 "$it_trace" --watch never "$socket"
status 2 "$it_trace" --count 0 "$socket"
status 2 "$it_trace" --count 1 "$socket"
status 2 "$it_trace" "$socket" "$socket"
status 0 "$it_trace" --help
status 0 "$it_trace" --version
status 1 sh -c '"$@" >/dev/full' sh "$it_trace" "$socket"
grep -q 'output is lost' "$folder/err" || fail 'a full disk is not told of'
# Whoever stops it does not stop us. A signal takes a moment to stop each thread.
kill -STOP "$pid"
timeout $((60 * factor)) sh -c 'while grep -h "^State:" /proc/"$0"/task/*/status | grep -qv "T (stopped)"; do sleep 0.05; done' "$pid" ||
    fail 'the process does not stop'
status 1 "$it_trace" "$socket"
grep -q 'is the process stopped' "$folder/err" || fail "a stopped process: $(cat "$folder/err")"
kill -CONT "$pid"
status 0 "$it_trace" "$socket"
# With --watch, until it has gone.
"$it_trace" --watch 0.05 "$socket" >"$folder/watched" 2>"$folder/err" &
watch=$!
timeout $((60 * factor)) sh -c 'until grep -q ^itapi "$0"; do sleep 0.05; done' "$folder/watched" || fail 'nothing is watched'
kill -KILL "$pid"
got=0
wait "$watch" || got=$?
[ "$got" = 1 ] || fail "exit status $got of --watch behind the end of the process"
status 1 "$it_trace" "$socket"
grep -q 'nobody listens there' "$folder/err" || fail "the socket of a dead process: $(cat "$folder/err")"
kill "$server_pid" 2>/dev/null || true
wait_server || true
