#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# counted_syscalls.sh PROGRAM: counts the system calls per message of 64 B by kind with strace, of both sides together.
# counted_calls_test counts only the functions that it replaces; this shows that the kernel gets no other kind of call.
set -euo pipefail

program=${1:?usage: counted_syscalls.sh PROGRAM}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
strace -o "$folder/try" true 2>"$folder/log" || {
    echo "counted_syscalls.sh: no strace, or it may not trace: $(head -n 1 "$folder/log")"
    [ -n "${CI:-}" ] && exit 1
    exit 77
}
few=640
many=13440
failed=0

# count PATTERN MESSAGES: prints lines "CALL NUMBER"; failed calls count too. The test makes its schedule with the calls
# that are left out here; counted_calls_test counts those of the library.
count() {
    strace -f -c -e trace='!ioctl,nanosleep,clock_gettime,getsockname,getpeername' -o "$folder/summary" "$program" "$1" "$2" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
    awk '$1 ~ /^[0-9.]+$/ && $NF != "total" { print $NF, $4 }' "$folder/summary"
}

# check PATTERN LIMIT WHAT: fails with more than LIMIT calls per message, or more than 0.01 that neither move nor await data.
check() {
    count "$1" "$few" >"$folder/few"
    count "$1" "$many" >"$folder/many"
    awk -v messages="$((many - few))" -v limit="$2" -v what="$3" '
    { calls[$1] += FILENAME ~ /many$/ ? $2 : -$2 }
    END {
        for (name in calls) {
            each = calls[name] / messages
            all += each
            if (name !~ /^(send(to|msg)|recv(from|msg)|epoll_p?wait2?|sched_yield)$/) others += each
            if (each >= 0.005) kinds = kinds sprintf("  %s %.3f", name, each)
        }
        printf "%-44s %6.3f (at most %s)%s\n", what, all, limit, kinds
        exit !(all > 0.01 && all <= limit && others <= 0.01)
    }' "$folder/few" "$folder/many" || failed=1
}

check ping-pong 2.1 'ping-pong, both polling'
check ping-pong-crc 2.1 'the same with CRC'
check waiting 3.1 'ping-pong, both waiting'
check waiting-crc 3.1 'the same with CRC'
check write 0.3 'RDMA Writes'
check write-coalesced 0.06 'the same with IT_COALESCE_WR_FLAG'
check send 0.3 'Sends'
check send-coalesced 0.06 'the same with IT_COALESCE_WR_FLAG'
check send-crc 0.06 'the same with CRC, too'
check read 1.2 'RDMA Reads, 8 under way'
check read-coalesced 0.8 'the same with IT_COALESCE_WR_FLAG'
check read-crc 0.8 'the same with CRC, too'
exit "$failed"
