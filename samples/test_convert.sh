#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_convert.sh CONVERT: runs the sample with files of several sizes, over IPv4 and IPv6.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits
. "$(dirname "${BASH_SOURCE[0]}")/common/server.bash"

convert=$1
hosts=(127.0.0.1)
! has_ipv6 || hosts+=(::1)

"$convert" --help >"$folder/help" || fail '--help fails'
grep -q 'convert client HOST PORT FILE' "$folder/help" || fail '--help does not help'
status=0
"$convert" client 2>/dev/null || status=$?
[ "$status" = 2 ] || fail 'wrong usage is accepted'

head -c 0 /dev/urandom >"$folder/empty"
head -c 1 /dev/urandom >"$folder/one byte"
head -c 1048579 /dev/urandom >"$folder/one MiB and three"

# One server, many clients.
start_server "$convert" server --port 0
for host in "${hosts[@]}"; do
    for file in empty 'one byte' 'one MiB and three'; do
        timeout $((60 * factor)) "$convert" client "$host" "$port" "$folder/$file" >"$folder/client.log" 2>&1 ||
            { cat "$folder/client.log"; fail "$file over $host: the client failed"; }
        grep -q "$(sha256sum <"$folder/$file" | cut -d ' ' -f 1)" "$folder/client.log" ||
            fail "$file over $host: wrong SHA-256"
    done
done
status=0
"$convert" client 127.0.0.1 "$port" "$folder/no such file" 2>/dev/null || status=$?
[ "$status" = 1 ] || fail 'a file that does not exist is sent'
# A client that goes away, or talks nonsense, is no harm to the next one.
(exec 3<>"/dev/tcp/127.0.0.1/$port" && printf 'GET / HTTP/1.0\r\n\r\n' >&3)
(exec 3<>"/dev/tcp/127.0.0.1/$port")
cat "$folder/one byte" |
    timeout $((60 * factor)) "$convert" client 127.0.0.1 "$port" /dev/stdin >/dev/null || fail 'a pipe: failed'
end_server

start_server "$convert" server --port 0 --bind 127.0.0.1 --once
timeout $((60 * factor)) "$convert" client 127.0.0.1 "$port" "$folder/one byte" >/dev/null ||
    fail '--once: the client failed'
wait_server || fail '--once: the server failed'
