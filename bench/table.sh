#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# table.sh [IT_PERF]: what the project promises to be as fast as, measured on this machine's
# loopback: medians of 5 runs, alternating with plain TCP. Takes a minute or two; other work on the
# machine spoils it. RUNS and PIN (A,B) in the environment go to --runs and --pin.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

it_perf=${1:-$here/../build/bin/it_perf}
arguments=(--loopback --json --reference tcp --runs "${RUNS:-5}")
[ -z "${PIN-}" ] || arguments+=(--pin "$PIN")
[ -x "$it_perf" ] || { echo "table.sh: $it_perf is not built" >&2; exit 1; }
heap=0

line() { printf '%-48s %12s %12s %8s %10s  %s\n' "$@"; }

field() { # field NAME JSON
    sed -n "s/.*\"$1\": \"\{0,1\}\([^,\"}]*\).*/\1/p" <<<"$2"
}

# judge VALUE SIGN LIMIT: prints "ok" or "over".
judge() {
    awk -v value="$1" -v limit="$3" -v sign="$2" \
        'BEGIN { print (sign == "<=" ? value <= limit : value >= limit) ? "ok" : "over" }'
}

# readable NUMBER UNIT
readable() {
    awk -v number="$1" -v unit="$2" 'BEGIN {
        if (unit == "B/s") printf "%.0f MB/s", number / 1e6
        else if (unit == "msg/s") printf "%.3f M/s", number / 1e6
        else printf "%.3f %s", number, unit
    }'
}

# row NAME SIGN LIMIT IT_PERF_ARGUMENTS...
row() {
    local name=$1 sign=$2 limit=$3 json unit ratio
    shift 3
    if ! json=$("$it_perf" "${arguments[@]}" "$@"); then
        line "$name" failed '' '' "$sign $limit" ''
        return
    fi
    unit=$(field unit "$json")
    ratio=$(field ratio "$json")
    line "$name" "$(readable "$(field value "$json")" "$unit")" \
        "$(readable "$(field reference "$json")" "$unit")" "$(printf %.2f "$ratio")" \
        "$sign $limit" "$(judge "$ratio" "$sign" "$limit")"
    [ "$(field heap_calls "$json")" = null ] || heap=$((heap + $(field heap_calls "$json")))
}

line measure itapi 'plain TCP' ratio limit ''
row 'Send/Recv ping-pong, 64 B, both polling' '<=' 1.15 \
    --op send --measure lat --size 64 --mode poll
row 'Send/Recv ping-pong, 64 B, both waiting' '<=' 1.15 \
    --op send --measure lat --size 64 --mode wait
for crc in off on; do
    for size in 64k 1m; do
        limit=1.0
        [ "$crc" = off ] || limit=0.90
        row "RDMA Write stream, $size, CRC $crc" '>=' "$limit" \
            --op write --measure bw --size "$size" --crc "$crc"
    done
done
for crc in off on; do
    limit=0.95
    [ "$crc" = off ] || limit=0.90
    row "RDMA Read stream, 1m, CRC $crc" '>=' "$limit" --op read --measure bw --size 1m --crc "$crc"
done
row 'RDMA Writes, 64 B, queue kept full' '>=' 5 --op write --measure rate --size 64
line 'heap calls in all these runs' "$heap" '' '' '<= 0' "$(judge "$heap" '<=' 0)"

if command -v strace >/dev/null; then
    read -r ours theirs < <("$here/syscalls.sh" "$it_perf" | awk '/^per message/ { print $3, $4 }')
    ratio=$(awk -v ours="${ours:-0}" -v theirs="${theirs:-0}" \
        'BEGIN { printf "%.2f", (theirs > 0 ? ours / theirs : 99) }')
    line 'system calls per message of the first row' "${ours-?}" "${theirs-?}" "$ratio" '<= 1.05' \
        "$(judge "$ratio" '<=' 1.05)"
else
    line 'system calls per message of the first row' '(no strace)' '' '' '<= 1.05' ''
fi
