#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# udapl_cost.sh PROGRAM: counts the instructions of the uDAPL provider (libdaplitapi.so) with callgrind, for each post and for
# each completion that dat_evd_dequeue takes. The libraries that it calls do not count. Fails above the limits.
set -euo pipefail

program=${1:?usage: udapl_cost.sh PROGRAM}
command -v valgrind >/dev/null || { echo 'udapl_cost.sh: valgrind is not installed'; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
rounds=40
batch=4
post=120
completion=150
failed=0

# count OPERATION FUNCTION: prints the instructions of this module within FUNCTION of the program.
count() {
    valgrind --tool=callgrind --fair-sched=yes --toggle-collect="$2" --callgrind-out-file="$folder/out" \
        --log-file="$folder/log" "$program" "$1" "$rounds" >&2 || { tail -n 20 "$folder/log" >&2; exit 1; }
    callgrind_annotate --threshold=100 --show-percs=no "$folder/out" 2>/dev/null |
        sed -nE 's/^ *([0-9,]+) +[^ ]*:[^ ]+.*\[[^ ]*libdaplitapi[^ ]*\]$/\1/p' | tr -d , |
        awk '{ sum += $1 } END { print sum + 0 }'
}

# check OPERATION FUNCTION EACH LIMIT WHAT: FUNCTION makes EACH calls of the module in a round.
check() {
    local measured
    measured=$(count "$1" "$2")
    measured=$((measured / (rounds * $3)))
    printf '%-44s %5s (at most %s)\n' "$5" "$measured" "$4"
    [ "$measured" -gt 5 ] && [ "$measured" -le "$4" ] || failed=1
}

check write cost_post $batch $post 'RDMA Write'
check read cost_post $batch $post 'RDMA Read'
check send cost_post $((2 * batch)) $post 'Send and receive, each'
check write cost_take $((batch - 1)) $completion 'completion of an RDMA Write'
check send cost_take $((2 * (batch - 1))) $completion 'completions of Send and receive, each'
exit "$failed"
