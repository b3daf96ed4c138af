#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_it_rping.sh IT_RPING: the sample's client and server with each other, and wrong usage.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
. "$(dirname "${BASH_SOURCE[0]}")/common/server.bash"

it_rping=$1
hosts=(127.0.0.1)
! has_ipv6 || hosts+=(::1)

# client ARGUMENTS...: runs a client; what it prints goes to $folder/client.log.
client() {
    timeout $((60 * factor)) "$it_rping" -c -p "$port" "$@" >"$folder/client.log" 2>&1 ||
        { cat "$folder/client.log"; fail "client $*: failed"; }
}

# wait_for PATTERN FILE: until a line of the file matches.
wait_for() {
    local tries=600
    until grep -qs -e "$1" "$2"; do
        ((tries-- > 0)) || fail "nothing matches: $1"
        sleep 0.1
    done
}

# refused STATUS PATTERN ARGUMENTS...: these end with that status and a message of one line.
refused() {
    local wanted=$1 pattern=$2 status=0
    shift 2
    timeout $((60 * factor)) "$it_rping" "$@" >"$folder/stdout" 2>"$folder/stderr" || status=$?
    [ "$status" = "$wanted" ] || fail "$*: status $status, not $wanted"
    [ "$(wc -l <"$folder/stderr")" = 1 ] || fail "$*: no message, or more than one"
    grep -q -e "$pattern" "$folder/stderr" || fail "$*: says: $(cat "$folder/stderr")"
}

"$it_rping" --help >"$folder/help" || fail '--help fails'
grep -q 'it_rping -c -a ADDRESS' "$folder/help" || fail '--help does not help'

refused 2 'either -s or -c'
refused 2 'either -s or -c' -s -c -a 127.0.0.1
refused 2 'needs -a' -c
refused 2 '-P is for servers' -c -a 127.0.0.1 -P
refused 2 '-I is for clients' -s -I 127.0.0.1
refused 2 '-p 0 is for servers' -c -a 127.0.0.1 -p 0
refused 2 'only options are taken' -s 7174
refused 2 'invalid option' -s -x
refused 2 'requires an argument' -s -S
for size in 0 22 65536 -1 '' 64k ' 64' 0x40 18446744073709551680; do
    refused 2 '-S .*: must be a number from 23 to 65535' -s -S "$size"
done
for count in -1 x 1.5 2147483648; do
    refused 2 '-C .*: must be a number from 0 to 2147483647' -c -a 127.0.0.1 -C "$count"
done
refused 2 '-p 65536: must be a number from 0 to 65535' -s -p 65536
refused 1 'interface nosuchthing: ' -s -i nosuchthing
refused 1 'does not have the address 192.0.2.1' -s -p 0 -a 192.0.2.1
refused 1 'no host: ' -c -a 'no host'

# One client and its server.
for host in "${hosts[@]}"; do
    for size in 23 24 64 1429 65534 65535; do
        start_server "$it_rping" -s -p 0 -a "$host" -V
        client -a "$host" -C 60 -S "$size" -V
        grep -q "^60 pings of $size bytes there and back .*all correct" "$folder/client.log" ||
            fail "size $size: the client does not count right"
        wait_server || fail "size $size: the server failed"
        grep -q "^client $host: 60 pings, $((60 * size)) bytes .*all correct" "$folder/server.log" ||
            fail "size $size: the server does not count right"
    done
done

# What the pings look like.
start_server "$it_rping" -s -p 0 -v -d -C 2
client -a 127.0.0.1 -C 2 -S 32 -v
wait_server || fail '-v: the server failed'
printf 'ping data: rdma-ping-%s\n' '0: ABCDEFGHIJKLMNOPQR' '1: BCDEFGHIJKLMNOPQRS' >"$folder/wanted"
head -n 2 "$folder/client.log" | cmp - "$folder/wanted" || fail '-v: the client shows something else'
grep '^server ping data' "$folder/server.log" | sed 's/^server //' | cmp - "$folder/wanted" ||
    fail '-v: the server shows something else'
grep -q 'it_rping: read 32 bytes' "$folder/server.log" || fail '-d: no steps are printed'

# Without -C, until interrupted.
start_server "$it_rping" -s -p 0 -V
"$it_rping" -c -a 127.0.0.1 -p "$port" -v -V >"$folder/client.log" 2>&1 &
client_pid=$!
wait_for 'rdma-ping-70: ' "$folder/client.log"
kill -INT "$client_pid"
wait "$client_pid" || fail 'an interrupted client does not end well'
tail -n 1 "$folder/client.log" | grep -q '^[0-9]* pings .*all correct' ||
    fail 'an interrupted client does not sum up'
wait_server || fail 'the client was interrupted: the server failed'

# The smaller of two limits.
start_server "$it_rping" -s -p 0 -C 3
client -a 127.0.0.1 -C 3
wait_server || fail '-C: the server failed'
start_server "$it_rping" -s -p 0 -C 3
! timeout $((60 * factor)) "$it_rping" -c -a 127.0.0.1 -p "$port" -C 4 >"$folder/client.log" 2>&1 ||
    fail '-C: the client got more pings than the server gives'
wait_server || fail '-C: the server failed'
grep -q '^client 127.0.0.1: 3 pings' "$folder/server.log" || fail '-C: the server gave others'
start_server "$it_rping" -s -p 0 -S 64
! timeout $((60 * factor)) "$it_rping" -c -a 127.0.0.1 -p "$port" -S 65 >"$folder/client.log" 2>&1 ||
    fail '-S: the server takes more'
! wait_server || fail '-S: the server does not mind'
grep -q 'its buffer has 65 bytes; 1 to 64 are taken' "$folder/server.log" ||
    fail '-S: the server does not say why'

# One server, many clients: one after the other, at once, some of them rude.
start_server "$it_rping" -s -p 0 -P -V
for size in 23 65535 100 4096; do
    client -a 127.0.0.1 -C 10 -S "$size" -V
done
client -a 127.0.0.1 -I 127.0.0.2 -C 1
wait_for '^client 127.0.0.2: 1 pings' "$folder/server.log"
refused 1 'does not have the address 192.0.2.1' -c -a 127.0.0.1 -I 192.0.2.1 -p "$port"
refused 1 'no path leads from ::1' -c -a 127.0.0.1 -I ::1 -p "$port"
# The server resets it, perhaps before the last octet is written.
(exec 3<>"/dev/tcp/127.0.0.1/$port" && printf 'GET / HTTP/1.0\r\n\r\n' >&3) 2>/dev/null || true
"$it_rping" -c -a 127.0.0.1 -p "$port" -v >"$folder/first.log" 2>&1 &
first=$!
"$it_rping" -c -a 127.0.0.1 -p "$port" -v -V -S 4096 >"$folder/second.log" 2>&1 &
second=$!
wait_for 'rdma-ping-1: ' "$folder/first.log"
wait_for 'rdma-ping-1: ' "$folder/second.log"
client -a 127.0.0.1 -C 50 -V
kill -KILL "$first"
{ wait "$first" || true; } 2>/dev/null
client -a 127.0.0.1 -C 50 -V
kill -INT "$second"
wait "$second" || fail 'a client among others failed'
tail -n 1 "$folder/second.log" | grep -q 'all correct' || fail 'a client among others does not sum up'
end_server
! grep 'Sanitizer' "$folder/server.log" || fail 'the server does not behave'
refused 1 'not connected' -c -a 127.0.0.1 -p 1
