#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_compare.sh BUILD_DIR: a tiny comparison leaves good results; how fast anybody is, is not looked at.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

build=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    printf 'test_compare.sh: %s\n' "$*" >&2
    exit 1
}

for program in python3 taskset; do
    command -v "$program" >/dev/null || { echo "$program is missing" && exit 77; }
done

refused() { # refused ARGUMENTS...: wrong usage
    local status=0
    "$here/compare" --out "$folder/none" "$@" >/dev/null 2>&1 || status=$?
    [ "$status" = 2 ] || fail "status $status, not 2, of: $*"
    [ ! -e "$folder/none" ] || fail "results of wrong usage: $*"
}

refused --sizes 0
refused --sizes 64,
refused --sizes 64x
refused --runs 0
refused --pin 1
refused --only nobody
refused --patterns nothing
refused --seconds nan
refused --no-such-option
refused file

# A file is not a folder. That is reported before anything is measured.
: >"$folder/file"
status=0
"$here/compare" --build "$build" --out "$folder/file" >"$folder/log" 2>&1 || status=$?
[ "$status" = 1 ] && grep -q 'File exists' "$folder/log" || fail "status $status of a file as folder: $(cat "$folder/log")"

# It runs from any folder, without a terminal. Contestants that are not installed are left out.
mkdir "$folder/bin"
ln -s "$(command -v taskset)" "$folder/bin/taskset"
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$folder/bin/python3"
(cd / && PATH=$folder/bin exec "$here/compare" --build "$build" --only tcp,ucx,fi_pingpong --sizes 64 \
    --patterns send_lat --runs 1 --seconds 0.01 --timeout $((60 * factor)) --out "$folder/alone") </dev/null >"$folder/log" 2>&1 ||
    fail "the comparison fails without peers: $(cat "$folder/log")"
for peer in ucx_perftest fi_pingpong; do
    grep -q "$peer is not installed" "$folder/log" || fail "not said that $peer is missing: $(cat "$folder/log")"
done

"$here/compare" --build "$build" --only itapi,itapi_nospin,tcp,tcp_same,tcp_sums --sizes 64,4k --patterns send_lat,send_lat_wait,write_bw --runs 1 \
    --seconds 0.01 --timeout $((60 * factor)) --out "$folder/out" >"$folder/log" 2>&1 ||
    fail "the comparison fails: $(cat "$folder/log")"
"$here/compare_lib/check" "$folder/out" || fail 'the results are not good'

# Compares a build with itself: each row has a ratio.
"$here/compare" --build "$build" --before "$build" --sizes 64,4k --patterns send_lat,write_bw --runs 1 \
    --seconds 0.01 --timeout $((60 * factor)) --out "$folder/before" >"$folder/log" 2>&1 ||
    fail "the comparison with a build before fails: $(cat "$folder/log")"
[ "$(grep -cE '^(Send ping|RDMA Write stream|geometric mean).* [0-9]+[.][0-9]{3} +[0-9]+[.][0-9]{3}  (ok|slower)$' "$folder/log")" = 4 ] ||
    fail "the rows of a build before: $(cat "$folder/log")"
"$here/compare" --build "$build" --before "$folder" --sizes 64 --patterns send_lat --runs 1 \
    --seconds 0.01 --timeout $((60 * factor)) --out "$folder/none" >"$folder/log" 2>&1 || fail "no build before: $(cat "$folder/log")"
grep -q 'nothing to set beside' "$folder/log" || fail "not said that there is no build before: $(cat "$folder/log")"

# A missing contestant is named, and one that fails has no figure.
mkdir -p "$folder/broken/bin"
printf '#!/bin/sh\necho no luck >&2\nexit 3\n' >"$folder/broken/bin/it_perf"
chmod +x "$folder/broken/bin/it_perf"
status=0
"$here/compare" --build "$folder/broken" --only itapi,libfabric --sizes 64 --patterns send_lat --runs 1 \
    --out "$folder/failed" >"$folder/log" 2>&1 || status=$?
[ "$status" = 1 ] || fail "status $status, not 1, of a contestant that fails"
grep -q 'no luck' "$folder/failed/report.html" || fail 'the report does not say how a contestant failed'
grep -q 'fi_stream is not built' "$folder/failed/report.html" || fail 'the report does not say who is missing'
grep -q '"value": null' "$folder/failed/results.json" || fail 'a failure has a figure'

# Whatever ends it, none of its processes stays.
servers() {
    grep -lzs -- "$folder/endless" /proc/[0-9]*/cmdline || true
}
mkdir -p "$folder/endless/bin"
cat >"$folder/endless/bin/it_perf" <<END
#!/bin/sh
[ "\$1" = server ] || exit 0
echo >"$folder/started"
exec tail -f /dev/null "$folder/endless/bin/it_perf"
END
chmod +x "$folder/endless/bin/it_perf"
for signal in INT TERM HUP KILL; do
    : >"$folder/started"
    # A shell ignores SIGINT in background jobs, so Python restores it.
    python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); os.execv(sys.argv[1], sys.argv[1:])' \
        "$here/compare" --build "$folder/endless" --only itapi --sizes 64 --patterns send_lat --timeout $((60 * factor)) \
        --out "$folder/interrupted" >"$folder/log" 2>&1 &
    comparison=$!
    timeout $((60 * factor)) sh -c "until [ -s '$folder/started' ]; do sleep 0.05; done" || fail 'nothing is started'
    kill -"$signal" "$comparison"
    wait "$comparison" 2>/dev/null || true
    for _ in {1..200}; do
        [ -n "$(servers)" ] || break
        sleep 0.05
    done
    [ -z "$(servers)" ] || fail "SIG$signal leaves behind: $(servers)"
    ! grep -q Traceback "$folder/log" || fail "SIG$signal: $(cat "$folder/log")"
done
