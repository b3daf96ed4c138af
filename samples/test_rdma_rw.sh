#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_rdma_rw.sh RDMA_RW: runs the two sides in every combination of reading and writing.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
. "$(dirname "${BASH_SOURCE[0]}")/common/server.bash"

rdma_rw=$1
hosts=(127.0.0.1)
! has_ipv6 || hosts+=(::1)

# trace ACTION OF: what a log shows when OF (server or client) has done that.
trace() {
    case $1 in
    read) echo "the peer says it has read" ;;
    write) echo "the peer says it has written: \"the $2, process" ;;
    esac
}

for host in "${hosts[@]}"; do
    for server in read write; do
        for client in read write; do
            start_server "$rdma_rw" server "$server" 0
            timeout $((60 * factor)) "$rdma_rw" client "$client" "$host" "$port" >"$folder/client.log" 2>&1 ||
                { cat "$folder/client.log"; fail "client $client over $host: failed"; }
            wait_server || fail "server $server: failed"
            grep -q "$(trace "$client" client)" "$folder/server.log" ||
                fail "the server does not see what the client did: $client"
            grep -q "$(trace "$server" server)" "$folder/client.log" ||
                fail "the client does not see what the server did: $server"
            [ "$client" = write ] || grep -q 'greetings from the server' "$folder/client.log" ||
                fail 'the client read something else'
            [ "$server" = write ] || grep -q 'greetings from the client' "$folder/server.log" ||
                fail 'the server read something else'
        done
    done
done

status=0
timeout $((60 * factor)) "$rdma_rw" client read 127.0.0.1 1 2>"$folder/client.log" || status=$?
[ "$status" = 1 ] || fail 'connecting to nobody works'
grep -q 'IT_CM_MSG_CONN_NONPEER_REJECT_EVENT' "$folder/client.log" ||
    fail 'connecting to nobody is not explained'
