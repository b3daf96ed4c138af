#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# verbs_cost.sh PROGRAM POST: counts our instructions with callgrind, for each usual post and completion on the stub device,
# whose own functions do not count. Fails if a post has more than POST, or a completion more than the limit below.
set -euo pipefail

program=${1:?usage: verbs_cost.sh PROGRAM POST}
command -v valgrind >/dev/null || { echo 'verbs_cost.sh: valgrind is not installed'; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# valgrind fails on debug information of some compilers. Function names suffice.
strip --strip-debug -o "$folder/program" "$program"
few=20
many=120
batch=32
post=${2:?usage: verbs_cost.sh PROGRAM POST}
# The limit for one completion.
completion=85
failed=0

# count ROUNDS ARGUMENT...: prints lines "INSTRUCTIONS FUNCTION".
count() {
    local rounds=$1 operation=$2
    shift 2
    valgrind --tool=callgrind --callgrind-out-file="$folder/out" "$folder/program" "$operation" "$rounds" \
        "$@" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
    callgrind_annotate --threshold=100 --show-percs=no "$folder/out" |
        sed -nE 's/^ *([0-9,]+) +[^ ]*:([A-Za-z_0-9.]+)( .*)?$/\1 \2/p' | tr -d ,
}

# per FUNCTIONS: prints the difference of the two counts per operation.
per() {
    awk -v functions="^($1)" -v operations="$(((many - few) * batch))" '
    $2 ~ functions { sum += FILENAME ~ /many$/ ? $1 : -$1 }
    END { printf "%.1f\n", sum / operations }' "$folder/few" "$folder/many"
}

# check NAME LIMIT FUNCTIONS
check() {
    local measured
    measured=$(per "$3")
    printf '%-44s %7s (at most %s)\n' "$1" "$measured" "$2"
    awk -v measured="$measured" -v limit="$2" \
        'BEGIN { exit !(measured > 10 && measured <= limit) }' || failed=1
}

run() {
    count "$few" "$@" >"$folder/few"
    count "$many" "$@" >"$folder/many"
}

requests='it_post_(send|rdma)|(verbs_)?usual_(post|give_up|remember|wake)(_send|_write|_read)?$|post_re[fq]|queue_|verbs_queue'
receives='it_post_recv|usual_(post|give_up)_recv|(verbs_)?usual_(remember|wake)|post_recv|queue_|verbs_queue'
completions='itx?_evd|evd_|source_|verbs_source|base_'

run write 64
check 'RDMA Write, 64 octets' "$post" "$requests"
check 'its completion, itx_evd_dequeue_n' "$completion" "$completions"
run write 4096
check 'RDMA Write, 4096 octets' "$post" "$requests"
run read 4096
check 'RDMA Read, 4096 octets' "$post" "$requests"
run send 64
check 'Send, 64 octets' "$post" "$requests"
check 'receive' "$post" "$receives"
check 'completions of both, itx_evd_dequeue_n' "$((2 * completion))" "$completions"
run write 64 one
check 'completion of a Write, it_evd_dequeue' "$completion" "$completions"
run send 64 one
check 'completions of both, it_evd_dequeue' "$((2 * completion))" "$completions"
run full 64
check 'RDMA Write that fills the queue' "$((post + 8))" "$requests"
check 'its completion, found by a poll' "$((completion + 40))" "$completions"
run look
check 'it_evd_dequeue that finds nothing' "$completion" "$completions"
exit "$failed"
