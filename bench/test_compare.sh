#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_compare.sh BUILD_DIR: a tiny comparison leaves good results; how fast anybody is, is not looked at.
set -euo pipefail
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

"$here/compare" --build "$build" --only itapi,tcp --sizes 64,4k --patterns send_lat,write_bw --runs 1 \
    --seconds 0.01 --timeout 60 --out "$folder/out" >"$folder/log" 2>&1 ||
    fail "the comparison fails: $(cat "$folder/log")"
"$here/compare_lib/check" "$folder/out" || fail 'the results are not good'

# Who is not there is named, and who fails has no figure.
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
