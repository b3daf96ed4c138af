#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# counted_instructions.sh PROGRAM [top]: counts the instructions in user space per message of 64 B with callgrind, of both sides
# together, without those of the test and of the kernel's entry. Fails above the limits below; `top` shows the functions.
set -euo pipefail

program=${1:?usage: counted_instructions.sh PROGRAM [top]}
top=${2:-}
command -v valgrind >/dev/null || {
    echo 'counted_instructions.sh: valgrind is not installed'
    [ -n "${CI:-}" ] && exit 1
    exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
few=640
many=1920
failed=0
# Counting is on in the run and off in the test's own functions inside it.
parts=(--toggle-collect={counted_run,counted_pause,syscall,clock_gettime})

# count PATTERN MESSAGES: prints lines "INSTRUCTIONS FUNCTION".
count() {
    valgrind --tool=callgrind "${parts[@]}" --callgrind-out-file="$folder/out" \
        "$program" "$1" "$2" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
    callgrind_annotate --threshold=100 --show-percs=no "$folder/out" 2>/dev/null |
        sed -nE 's/^ *([0-9,]+) +[^ ]*:([A-Za-z_0-9.@]+)([ '\''].*)?$/\1 \2/p' | tr -d ,
}

# Prints the difference of the two counts per message and function, the largest first.
per_message() {
    awk -v messages="$((many - few))" '
    $2 ~ /^(counted_|syscall$|clock_gettime$|account|ping$|take|stream_(post|take|run|room|event|settle)|fx_|check_|main$)/ { next }
    { sum[$2] += FILENAME ~ /many$/ ? $1 : -$1 }
    END { for (name in sum) if (sum[name] != 0) printf "%8.1f  %s\n", sum[name] / messages, name }' \
        "$folder/few" "$folder/many" | sort -rn
}

# check PATTERN LIMIT WHAT
check() {
    local measured
    count "$1" "$few" >"$folder/few"
    count "$1" "$many" >"$folder/many"
    measured=$(per_message | awk '{ sum += $1 } END { printf "%.0f\n", sum }')
    printf '%-52s %5s (at most %s)\n' "$3" "$measured" "$2"
    awk -v measured="$measured" -v limit="$2" \
        'BEGIN { exit !(measured > 100 && measured <= limit) }' || failed=1
    [ -z "$top" ] || per_message | head -n 30
}

# The limits are within 3 % of the measured values. The counts are the same in each run.
check ping-pong 2230 'ping-pong, both polling'
check ping-pong-crc 2370 'the same with CRC'
check waiting 2960 'ping-pong, both waiting'
check waiting-crc 3100 'the same with CRC'
check sleeping 3010 'ping-pong, both asleep at once'
check write-apart 1380 'RDMA Writes, each in a system call of its own'
check write-coalesced 1450 'RDMA Writes, 64 in a system call'
check write-crc 1610 'the same with CRC'
check send-apart 1630 'Sends, each in a system call of its own'
check send-coalesced 1720 'Sends, 64 in a system call'
check send-crc 1890 'the same with CRC'
check read-apart 3480 'RDMA Reads, each in a system call of its own'
check read-coalesced 2960 'RDMA Reads, 8 in a system call'
check read-crc 3260 'the same with CRC'
exit "$failed"
