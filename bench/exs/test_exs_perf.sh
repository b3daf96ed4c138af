#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_exs_perf.sh EXS_PERF: runs each row once for a short time. The speed is not checked.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits

exs_perf=$1

fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# row NAME UNIT OPTION...
row() {
    local line
    line=$(timeout $((60 * factor)) "$exs_perf" --seconds 0.05 "${@:3}" "$1") || fail "$1: failed"
    [[ $line =~ ^$1\ [0-9]+\ [0-9.e+]+\ $2$ ]] || fail "$1: \"$line\""
}

row pingpong us
row direct B/s --size 65536
row direct B/s --same --size 65536
row late B/s --size 65536 --late 10
row rate msg/s --depth 32
row packets msg/s --depth 32
row packets msg/s --depth 100
row file B/s --size 8388608
row file B/s --size 8388608 --sealed
row file B/s --size 8388608 --file "${TMPDIR:-/tmp}"
row tcp-file B/s --size 8388608 --file "${TMPDIR:-/tmp}"
row many 'of fair' --number 20 --size 4096
row late B/s --size 65536 --ring 131072
row tcp-stream B/s --size 65536
row tcp-copy B/s --size 65536
row tcp-rate msg/s
row tcp-file B/s --size 8388608
row tcp-pread B/s --size 8388608
cpu=$(awk '$1 == "Cpus_allowed_list:" {split($2, first, "[,-]"); print first[1]}' /proc/self/status)
row pingpong us --sleep --pin "$cpu,$cpu"
"$exs_perf" --help | grep -q -- '--depth' || fail '--help'
status=0
"$exs_perf" nonsense 2>/dev/null || status=$?
[ "$status" = 2 ] || fail 'an unknown row is accepted'
status=0
"$exs_perf" --pin 1 pingpong 2>/dev/null || status=$?
[ "$status" = 2 ] || fail 'one processor for two ends is accepted'
