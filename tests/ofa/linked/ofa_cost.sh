#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# ofa_cost.sh PROGRAM ENDPOINT [top]: counts the instructions of ulp/ofa with callgrind, for each post of one segment and for each
# polled completion. The library that it calls does not count. Also checks the heap of idle queue pairs beyond that of their
# endpoints. Fails above the limits. `top` shows the functions.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits

program=${1:?usage: ofa_cost.sh PROGRAM ENDPOINT [top]}
endpoint=${2:?}
top=${3:-}
command -v valgrind >/dev/null || { echo 'ofa_cost.sh: valgrind is not installed'; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
rounds=20
batch=8
failed=0

# count OPERATION FUNCTION: prints lines "INSTRUCTIONS FILE:FUNCTION" of this library within
# FUNCTION of the program.
count() {
    timeout $((60 * factor)) valgrind --tool=callgrind --fair-sched=yes --toggle-collect="$2" --callgrind-out-file="$folder/out" \
        --log-file="$folder/log" "$program" "$1" "$rounds" >&2 || { tail -n 20 "$folder/log" >&2; exit 1; }
    callgrind_annotate --threshold=100 --auto=no --show-percs=no "$folder/out" 2>/dev/null |
        sed -nE 's|^ *([0-9,]+) +[^ ]*ulp/ofa/([^ ]+).*$|\1 \2|p' | tr -d ,
}

# check OPERATION FUNCTION LIMIT WHAT
check() {
    local measured
    count "$1" "$2" >"$folder/lines"
    measured=$(awk -v calls=$((rounds * batch)) '{ sum += $1 } END { printf "%d\n", sum / calls }' "$folder/lines")
    printf '%-44s %5s (at most %s)\n' "$4" "$measured" "$3"
    [ -z "$top" ] || cat "$folder/lines"
    [ "$measured" -gt 5 ] && [ "$measured" -le "$3" ] || failed=1
}

# heap REQUESTS INLINE LIMIT
heap() {
    local measured
    measured=$(($("$program" memory "$1" "$2") - $("$endpoint" "$1")))
    printf '%-44s %5s (at most %s)\n' "bytes: $1 requests, $2 inline, 16 receives" "$measured" "$3"
    [ "$measured" -gt 100 ] && [ "$measured" -le "$3" ] || failed=1
}

post=100
completion=120
check write cost_post $post 'RDMA Write'
check write_inline cost_post $post 'RDMA Write, inline'
check read cost_post $post 'RDMA Read'
check send cost_post $post 'Send'
check send_inline cost_post $post 'Send, inline, solicited'
check wr_write cost_wr $post 'RDMA Write by ibv_wr_*, four calls'
check wr_inline cost_wr $post 'RDMA Write by ibv_wr_*, inline'
check wr_read cost_wr $post 'RDMA Read by ibv_wr_*'
check wr_send cost_wr $post 'Send by ibv_wr_*, solicited'
check receive cost_receive $post 'receive'
check write cost_take $completion 'completion of an RDMA Write'
check read cost_take $completion 'completion of an RDMA Read'
check receive cost_take $completion 'completion of a receive'
heap 16 0 16384
heap 1016 0 $((16384 + 1000 * 64))
heap 16 512 $((16384 + 17 * 512))
exit "$failed"
